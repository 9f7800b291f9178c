import type { Places } from './axes.ts';
import type { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

interface MetricOf {
  source: SeriesSource;
  metric: string;
}

/** A line of a chart: one metric of one run, or its mean over several. */
export interface Trace extends MetricOf {
  id: string;
  label: string;
  places: Places;
  /** A custom property of the style sheets, as `chart-1`. */
  color: string;
  dash?: 'dashed' | 'dotted';
  /** Few, exact points (evaluations) are shown as points and never smoothed. */
  sparse?: boolean;
  /** Of another run, drawn behind. */
  faint?: boolean;
  /** Edges of an interval around it. */
  band?: { low: MetricOf; high: MetricOf };
}

export const seriesOf = ({ source, metric }: MetricOf): MetricSeries | undefined => source.get(metric);

export const hasValues = (trace: Trace): boolean => (seriesOf(trace)?.length ?? 0) > 0;

/** What a trace says near a place. */
export interface Reading {
  trace: Trace;
  place: number;
  iteration: number;
  /** As it was measured, and its moving average, which is the same for what isn't smoothed. */
  value: number;
  smoothed: number;
  /** Where it is a stretch of several points: between which values they are. */
  stretch: { least: number; most: number; count: number } | null;
  band: { low: number; high: number } | null;
}

/** At the index of its series; -1 is the newest. Null where it has no values. */
export function readingAt(trace: Trace, index: number, smoothing: number): Reading | null {
  const series = seriesOf(trace);
  if (!series || series.length === 0) return null;
  const at = index < 0 ? series.length - 1 : index;
  const iteration = series.iterations()[at]!;
  const low = trace.band && seriesOf(trace.band.low)?.at(iteration);
  const high = trace.band && seriesOf(trace.band.high)?.at(iteration);
  return {
    trace,
    place: trace.places.of(series)[at]!,
    iteration,
    value: series.values()[at]!,
    smoothed: series.smoothed(trace.sparse ? 0 : smoothing)[at]!,
    stretch: stretchAt(series, at),
    band: low === undefined || high === undefined ? null : { low, high },
  };
}

function stretchAt(series: MetricSeries, index: number): Reading['stretch'] {
  const count = series.counts()?.[index] ?? 1;
  return count > 1 ? { least: series.least()[index]!, most: series.most()[index]!, count } : null;
}
