import type { MetricSeries } from './metric-series.ts';

/** Metrics over iterations that charts draw: those of a run, or the means of several. */
export interface SeriesSource {
  /** Rises with every change. */
  readonly version: number;
  get(metric: string): MetricSeries | undefined;
  names(): string[];
  /** Calls back after every change, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}
