import type { AxisPositions } from './axes.ts';
import type { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

interface MetricSource {
  source: SeriesSource;
  metric: string;
}

/** A line of a chart: one metric of a run, or its mean over several. */
export interface Trace extends MetricSource {
  id: string;
  label: string;
  positions: AxisPositions;
  /** Name of a custom property of the style sheets, such as `chart-1`. */
  color: string;
  dash?: 'dashed' | 'dotted';
  /** Few, exact points such as evaluations: shown as points, never smoothed. */
  sparse?: boolean;
  /** True for another run, drawn behind. */
  faint?: boolean;
  /** Bounds of an interval around the line. `title` is a phrase, such as `95 % interval`. */
  band?: { title: string; low: MetricSource; high: MetricSource };
}

export const seriesOf = ({ source, metric }: MetricSource): MetricSeries | undefined => source.get(metric);

export const hasValues = (trace: Trace): boolean => (seriesOf(trace)?.length ?? 0) > 0;

/** Value of a trace near a position. */
export interface Reading {
  trace: Trace;
  position: number;
  iteration: number;
  /** Raw value and moving average; equal if the trace isn't smoothed. */
  value: number;
  smoothed: number;
  /** For a bucket of points: minimum, maximum and count. */
  bucket: { min: number; max: number; count: number } | null;
  band: { low: number; high: number } | null;
}

/** Reads the entry at an index; -1 is the newest. Returns null if there is none. */
export function readingAt(trace: Trace, index: number, smoothing: number): Reading | null {
  const series = seriesOf(trace);
  if (!series || series.length === 0) return null;
  const at = index < 0 ? series.length - 1 : index;
  const iteration = series.iterations()[at]!;
  const low = trace.band && seriesOf(trace.band.low)?.at(iteration);
  const high = trace.band && seriesOf(trace.band.high)?.at(iteration);
  return {
    trace,
    position: trace.positions.of(series)[at]!,
    iteration,
    value: series.values()[at]!,
    smoothed: series.smoothed(trace.sparse ? 0 : smoothing)[at]!,
    bucket: bucketAt(series, at),
    band: low === undefined || high === undefined ? null : { low, high },
  };
}

function bucketAt(series: MetricSeries, index: number): Reading['bucket'] {
  const count = series.counts()?.[index] ?? 1;
  return count > 1 ? { min: series.min()[index]!, max: series.max()[index]!, count } : null;
}
