import type { MetricSeries } from './metric-series.ts';

/** Metrics over iterations that charts draw: those of a run, or the means of several. */
export interface SeriesSource {
  /** Rises with every change. */
  readonly version: number;
  get(metric: string): MetricSeries | undefined;
  names(): string[];
  /** When iterations ended, ms since 1970; absent where the source tells no times. */
  times?(): MetricSeries;
  /** Calls back after every change, until the returned function is called. */
  subscribe(listener: () => void): () => void;
  /** Asks for finer entries of a metric after one iteration, up to another: at least so many, as far as there are points. They come as a change, where there are any. */
  refine?(metric: string, after: number, upTo: number, entries: number): void;
}
