import { useId, useSyncExternalStore } from 'react';
import { metricTitle } from '../../../core/contract/metric-titles.ts';
import type { SeriesSource } from '../../charts/series-source.ts';
import { number, percent } from '../../components/format.ts';

const share = (value: number) => percent(value);
const seconds = (value: number) => `${number(value)} s`;

interface Row {
  metric: string;
  format: (value: number) => string;
  /** Hides the row while the value is 0. */
  unlessZero?: boolean;
  /** Only some runs have the metric, so it has no place before the first iteration. */
  rare?: boolean;
}

const rows: Row[] = [
  { metric: 'rollout/format_valid_rate', format: share },
  { metric: 'rollout/action_effective_rate', format: share },
  { metric: 'rollout/turns', format: number },
  { metric: 'rollout/pass_at_n', format: share },
  { metric: 'filter/kept_groups', format: (value) => String(value) },
  { metric: 'rollout/distinct_first_thoughts', format: share },
  { metric: 'actor/clip_fraction_high', format: share },
  { metric: 'actor/approximate_kl', format: number },
  {
    metric: 'rollout/logprob_gap',
    format: number,
    unlessZero: true,
    rare: true,
  },
  { metric: 'warm_start/loss', format: number, rare: true },
  { metric: 'time/iteration', format: seconds },
];

/** Rows of a run without a completed iteration, so that its first metrics move nothing. */
const expected = rows.flatMap(({ metric, rare }) => (rare ? [] : [{ metric, text: '–' }]));

/**
 * Lists metrics without an overview chart. `expecting`: the series are not loaded, or more iterations may follow. Imported runs
 * may have none of the metrics.
 */
export function LatestIteration({ series, expecting }: { series: SeriesSource; expecting: boolean }) {
  const title = useId();
  useSyncExternalStore(series.subscribe, () => series.version);
  const measured = rows.flatMap(({ metric, format, unlessZero }) => {
    const newest = series.get(metric)?.newest();
    return newest && !(unlessZero && newest.value === 0) ? [{ metric, text: format(newest.value) }] : [];
  });
  return (
    <section className="panel latest" aria-labelledby={title}>
      <h3 id={title}>Latest iteration</h3>
      {measured.length === 0 && !expecting && <p className="faint">Not measured in this run.</p>}
      <dl>
        {(measured.length === 0 && expecting ? expected : measured).map(({ metric, text }) => (
          <div key={metric} className="latest-row" title={metric}>
            <dt>{metricTitle(metric)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
