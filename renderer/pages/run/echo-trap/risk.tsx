import type { EchoTrap } from '../../../../core/contract/contract.ts';
import { listWithAnd } from '../../../../core/contract/sentence.ts';
import { inOrder } from '../../../components/in-order.ts';
import styles from './risk.module.css';

/** Height of the chart in the units of its view box; its width is 100. */
const height = 40;

/** Shows the risk score over iterations with its hysteresis, and the signals that contribute to it. */
export function Risk({ trap }: { trap: EchoTrap }) {
  const { state, risk, collapseRate, riskLimits, riskHistory, warned, signals } = trap;
  if (risk === null) return null;
  const { warn, clear, calmFor } = riskLimits;
  const parts = signals
    .filter(({ contribution }) => shortScore(contribution) !== '0')
    .toSorted((a, b) => b.contribution - a.contribution);
  return (
    <div className={styles.risk}>
      <p>
        <strong>Risk {shortScore(risk)}.</strong>{' '}
        {collapseRate !== null &&
          `${rateText(collapseRate)} of the starter policy's runs at this risk collapse within 40 iterations. `}
        {warned
          ? `Warned at iteration ${warned.iteration}${warned.risk === null ? '' : ` (${shortScore(warned.risk)})`}${state === 'warning' ? `; clears after ${calmFor} iterations below ${clear}` : ''}.`
          : risk >= warn
            ? state === 'solved'
              ? 'A solved run gets no warning.'
              : 'A warning also needs signals of two families, or a persistent or decisive signal.'
            : `A warning starts at ${warn} and clears after ${calmFor} iterations below ${clear}.`}
      </p>
      <RiskChart history={riskHistory} warn={warn} clear={clear} />
      {parts.length > 0 && (
        <p className="small">
          {inOrder(parts.slice(0, 3), ({ title, contribution }, index) => (
            <span>
              {index > 0 && ', '}
              {index === 0 ? title : title.toLowerCase()} +{shortScore(contribution)}
            </span>
          ))}
          {parts.length > 3 && ` and ${parts.length - 3} more`}
        </p>
      )}
    </div>
  );
}

interface RiskChartProps {
  history: EchoTrap['riskHistory'];
  warn: number;
  clear: number;
}

/** Draws the risk with the band between the two limits, and shades the iterations of warnings. */
function RiskChart({ history, warn, clear }: RiskChartProps) {
  const [first, last] = [history[0], history.at(-1)];
  if (!first || !last || first === last) return null;
  const top = Math.max(1.2 * warn, ...history.map(({ risk }) => 1.05 * risk));
  const x = (iteration: number) =>
    ((100 * (iteration - first.iteration)) / (last.iteration - first.iteration)).toFixed(2);
  const y = (risk: number) => (height * (1 - risk / top)).toFixed(2);
  const percentOf = (risk: number) => `${100 * (1 - risk / top)}%`;
  return (
    <figure className={styles.chart} aria-label="Risk score">
      <div className={styles.plot}>
        <svg viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {alarmsIn(history).map(({ from, to }) => (
            <rect
              key={from}
              className={styles.alarm}
              x={x(from)}
              width={Number(x(to)) - Number(x(from))}
              y="0"
              height={height}
            />
          ))}
          <rect className={styles.band} x="0" width="100" y={y(warn)} height={Number(y(clear)) - Number(y(warn))} />
          <line className={styles.warn} x1="0" x2="100" y1={y(warn)} y2={y(warn)} />
          <line className={styles.clear} x1="0" x2="100" y1={y(clear)} y2={y(clear)} />
          <polyline
            className={styles.curve}
            points={history.map(({ iteration, risk }) => `${x(iteration)},${y(risk)}`).join(' ')}
          />
        </svg>
        <span className={styles.limit} style={{ bottom: `calc(100% - ${percentOf(warn)})` }}>
          warns at {warn}
        </span>
        <span className={styles.limit} style={{ top: percentOf(clear) }}>
          clears below {clear}
        </span>
      </div>
      <figcaption>
        <span>iteration {first.iteration}</span>
        <span className="visually-hidden">{alarmText(history)}</span>
        <span>{last.iteration}</span>
      </figcaption>
    </figure>
  );
}

/** Returns the stretches of iterations in a warning or worse. */
export function alarmsIn(history: EchoTrap['riskHistory']): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const [i, { iteration, alarm }] of history.entries()) {
    if (!alarm) continue;
    if (history[i - 1]?.alarm) found.at(-1)!.to = iteration;
    else found.push({ from: iteration, to: iteration });
  }
  return found;
}

function alarmText(history: EchoTrap['riskHistory']): string {
  const alarms = alarmsIn(history).map(({ from, to }) =>
    from === to ? `at iteration ${from}` : `from iteration ${from} to ${to}`,
  );
  return alarms.length === 0 ? 'No warning.' : `Warning ${listWithAnd(alarms)}.`;
}

/** Rounds to 5 %, because the measured share is uncertain. */
const rateText = (share: number) => (share < 0.05 ? 'Under 5 %' : `About ${Math.round(20 * share) * 5} %`);

/** Rounds down, so that a score just below the warning threshold isn't shown as 1. */
export const shortScore = (score: number) => String(Math.floor(100 * score) / 100);
