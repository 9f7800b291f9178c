import type { TrapIndicator } from '../../../../core/contract/contract.ts';
import { metricTitle } from '../../../../core/contract/metric-titles.ts';
import { number } from '../../../components/format.ts';
import { indicatorLabels, indicatorStateLabels } from '../../../components/trap-labels.ts';
import styles from './indicators.module.css';

/** Shows the four Echo Trap indicators in the paper's order, each with its value and the run's baseline. */
export function Indicators({ indicators }: { indicators: readonly TrapIndicator[] }) {
  return (
    <ul className={`${styles.indicators} stack`} aria-label="Echo Trap indicators">
      {indicators.map((indicator) => (
        <Indicator key={indicator.name} indicator={indicator} />
      ))}
    </ul>
  );
}

function Indicator({ indicator }: { indicator: TrapIndicator }) {
  const { name, state, series, value, baseline, since } = indicator;
  const label = indicatorLabels[name];
  return (
    <li className={styles.indicator} data-state={state} title={label.meaning}>
      <Dot state={state} />
      <div>
        <p className={styles.name}>
          {label.name} <strong>{indicatorStateLabels[state]}</strong>
        </p>
        <p className={`${styles.figures} wrap muted small`}>
          {value === null ? (
            'not measured'
          ) : (
            <>
              <span>{number(value)}</span>
              {baseline !== null && <span>baseline {number(baseline)}</span>}
            </>
          )}
          {since !== null && <span>since iteration {since}</span>}
        </p>
        {series !== '' && metricTitle(series) !== label.name && (
          <p className={`${styles.series} faint small`}>{metricTitle(series)}</p>
        )}
      </div>
    </li>
  );
}

/** Shows the indicators in one line, as shapes with a text alternative. */
export function IndicatorRow({ indicators }: { indicators: readonly TrapIndicator[] }) {
  const text = indicators
    .map(({ name, state }) => `${indicatorLabels[name].name} ${indicatorStateLabels[state]}`)
    .join(', ');
  return (
    <span className={styles.row} title={text}>
      <span className="visually-hidden">{text}</span>
      {indicators.map(({ name, state }) => (
        <span key={name} data-state={state} aria-hidden="true">
          <Dot state={state} />
        </span>
      ))}
    </span>
  );
}

/** Draws a filled dot with an exclamation mark (on), an empty ring (off) or a dashed ring (no data). */
function Dot({ state }: Pick<TrapIndicator, 'state'>) {
  return (
    <svg className={styles.dot} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <circle
        cx="8"
        cy="8"
        r={state === 'on' ? 7.5 : 6}
        fill={state === 'on' ? 'currentColor' : 'none'}
        stroke="currentColor"
        strokeWidth={state === 'on' ? 0 : 1.6}
        strokeDasharray={state === 'unknown' ? '2.6 2.2' : undefined}
      />
      {state === 'on' && <path d="M8 3.8v5M8 11.2v1" stroke="var(--panel)" strokeWidth="2" strokeLinecap="round" />}
    </svg>
  );
}
