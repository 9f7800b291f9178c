import type { MetricSeries } from './metric-series.ts';

/** Metrics over iterations: those of a run, or the means of a group. */
export interface SeriesSource {
  /** Increases with every change. */
  readonly version: number;
  get(metric: string): MetricSeries | undefined;
  names(): string[];
  /** End times of iterations in ms since 1970; absent if not measured. */
  times?(): MetricSeries;
  /** Calls back after every change, until the returned function is called. */
  subscribe(listener: () => void): () => void;
  /** Requests at least so many entries of a metric after one iteration, up to another. They arrive as a change. */
  refine?(metric: string, after: number, upTo: number, entries: number): void;
}
