import type { TrapIndicator, TrapSignal } from '../../../../core/contract/contract.ts';
import { metricTitle } from '../../../../core/contract/metric-titles.ts';
import { metricValue } from '../../../charts/metric-sections.ts';
import { indicatorLabel, indicatorStateLabels } from '../../../components/trap-labels.ts';
import styles from './indicators.module.css';

interface IndicatorsProps {
  indicators: readonly TrapIndicator[];
  signals: readonly TrapSignal[];
}

/** Shows the Echo Trap indicators, the paper's four first, each with its value, the run's baseline and its active signals. */
export function Indicators({ indicators, signals }: IndicatorsProps) {
  return (
    <ul className={`${styles.indicators} stack`} aria-label="Echo Trap indicators">
      {indicators.map((indicator) => (
        <Indicator key={indicator.name} indicator={indicator} signals={signals} />
      ))}
    </ul>
  );
}

function Indicator({ indicator, signals }: { indicator: TrapIndicator; signals: readonly TrapSignal[] }) {
  const { name, state, series, value, baseline, since } = indicator;
  const active = signals.filter((signal) => indicator.signals.includes(signal.name));
  const label = indicatorLabel(name);
  return (
    <li className={styles.indicator} data-state={state} title={label.meaning}>
      <Dot state={state} />
      <div>
        <p className={styles.name}>
          {label.name} <strong>{indicatorStateLabels[state]}</strong>
        </p>
        <p className={`${styles.figures} wrap muted small`}>
          {value === null ? (
            // The metric of an active signal is below.
            state !== 'on' && 'not measured'
          ) : (
            <>
              <span>{metricValue(series, value)}</span>
              {baseline !== null && (
                <span>
                  {referenceOf(indicator, signals)} {metricValue(series, baseline)}
                </span>
              )}
            </>
          )}
          {since !== null && <span>since iteration {since}</span>}
        </p>
        {series !== '' && metricTitle(series) !== label.name && (
          <p className={`${styles.series} faint small`}>{metricTitle(series)}</p>
        )}
        {active.map((signal) => (
          <p key={signal.name} className="small">
            {signal.title} {figuresOf(signal, series)}
          </p>
        ))}
      </div>
    </li>
  );
}

/** Returns a signal's value and baseline: `2.63 turns (lowest 1.74 turns)`. For the indicator's own metric, returns only the worst value if it differs from the current one. */
function figuresOf({ series, value, extreme, baseline, reference, threshold }: TrapSignal, shown: string): string {
  if (series === '' || value === null) return '';
  if (series === shown)
    return extreme !== null && metricValue(series, extreme) !== metricValue(series, value)
      ? `(worst ${metricValue(series, extreme)})`
      : '';
  // With a baseline of 0, the limit is shown instead.
  const limit = threshold === null ? '' : ` (limit ${metricValue(series, threshold)})`;
  const usual =
    baseline === null
      ? ''
      : baseline === 0
        ? limit
        : ` (${referenceWords[reference]} ${metricValue(series, baseline)})`;
  return `${metricValue(series, value)}${usual}`;
}

const referenceWords: Record<TrapSignal['reference'], string> = { usual: 'usually', best: 'best', lowest: 'lowest' };

/** Returns what the baseline of an indicator is: that of the signal whose metric it shows. */
const referenceOf = ({ series, baseline }: TrapIndicator, signals: readonly TrapSignal[]): string =>
  referenceWords[signals.find((each) => each.series === series && each.baseline === baseline)?.reference ?? 'usual'];

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
