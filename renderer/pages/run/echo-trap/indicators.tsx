import type { TrapIndicator, TrapSignal } from '../../../../core/contract/contract.ts';
import { metricTitle } from '../../../../core/contract/metric-titles.ts';
import { metricValue } from '../../../charts/metric-sections.ts';
import { indicatorLabels, indicatorStateLabels } from '../../../components/trap-labels.ts';
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
  const titles = indicator.signals.map((each) => signals.find((signal) => signal.name === each)?.title ?? each);
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
              <span>{metricValue(series, value)}</span>
              {baseline !== null && <span>baseline {metricValue(series, baseline)}</span>}
            </>
          )}
          {since !== null && <span>since iteration {since}</span>}
        </p>
        {series !== '' && metricTitle(series) !== label.name && (
          <p className={`${styles.series} faint small`}>{metricTitle(series)}</p>
        )}
        {titles.length > 0 && <p className="small">{titles.join(', ')}</p>}
      </div>
    </li>
  );
}

/** Shows the indicators in one line: how many are active, and a shape for each. */
export function IndicatorRow({ indicators }: { indicators: readonly TrapIndicator[] }) {
  const textOf = ({ name, state }: TrapIndicator) => `${indicatorLabels[name].name} ${indicatorStateLabels[state]}`;
  const active = indicators.filter(({ state }) => state === 'on').length;
  return (
    <span className={styles.row}>
      <span className="visually-hidden">{indicators.map(textOf).join(', ')}</span>
      <span className={`${styles.count} small`} aria-hidden="true">
        {active} of {indicators.length} indicators active
      </span>
      {indicators.map((indicator) => (
        <span key={indicator.name} data-state={indicator.state} title={textOf(indicator)} aria-hidden="true">
          <Dot state={indicator.state} />
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
