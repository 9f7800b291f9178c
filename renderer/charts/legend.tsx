import styles from './chart.module.css';
import type { ChartSpec } from './chart-specs.ts';
import { useCharts } from './charts-view.tsx';
import { useChartPreferences } from './preferences.ts';
import { readingsAt } from './tooltip.ts';
import { type Reading, readingAt, type Trace } from './traces.ts';
import { useVersion } from './use-version.ts';

interface LegendProps {
  spec: ChartSpec;
  traces: readonly Trace[];
  inView: boolean;
}

/** Shows the smoothed and raw value of each line: the newest, or those at the cross-hair. */
export function Legend({ spec, traces, inView }: LegendProps) {
  const smoothing = useChartPreferences((state) => state.smoothing);
  const cursor = useCharts((state) => (inView ? state.cursor : null));
  const mainTraces = traces.filter(({ faint }) => !faint);
  const readings = useVersion(mainTraces, inView, () =>
    cursor === null
      ? mainTraces.flatMap((trace) => readingAt(trace, -1, smoothing) ?? [])
      : readingsAt(mainTraces, cursor, smoothing),
  );
  return (
    <div className={`${styles.legend} wrap`}>
      {mainTraces.map((trace) => (
        <Entry
          key={trace.id}
          spec={spec}
          trace={trace}
          reading={readings.find((each) => each.trace === trace)}
          named={mainTraces.length > 1}
          smoothing={smoothing}
        />
      ))}
    </div>
  );
}

interface EntryProps {
  spec: ChartSpec;
  trace: Trace;
  reading: Reading | undefined;
  named: boolean;
  smoothing: number;
}

function Entry({ spec, trace, reading, named, smoothing }: EntryProps) {
  const value = reading ? spec.format(reading.smoothed) : '–';
  const measured = reading ? spec.format(reading.value) : value;
  return (
    <span className={styles.entry}>
      <span
        className={styles.key}
        data-dash={trace.dash}
        style={{ color: `var(--${trace.color})` }}
        aria-hidden="true"
      />
      {named && <span className={styles.label}>{trace.label}</span>}
      <strong className={styles.value}>{value}</strong>
      {smoothing > 0 && !trace.sparse && (
        <span className={`faint ${styles.raw}`} title="Value before smoothing">
          {measured !== value && `raw ${measured}`}
        </span>
      )}
    </span>
  );
}
