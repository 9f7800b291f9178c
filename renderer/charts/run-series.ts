import type { IterationTimes, Notice, Series } from '../../core/contract/contract.ts';
import { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

/** Requests a metric after one iteration, up to another, in about `resolution` entries. */
type RequestFiner = (metric: string, after: number, upTo: number, resolution: number) => Promise<Series[]>;

/** All metrics of one run, outside React. Charts subscribe and redraw in the next animation frame. */
export class RunSeries implements SeriesSource {
  readonly #series = new Map<string, MetricSeries>();
  readonly #listeners = new Set<() => void>();
  readonly #times = new MetricSeries();
  #requestFiner: RequestFiner | null = null;
  /** The last request per metric. */
  readonly #requested = new Map<string, string>();
  #version = 0;

  /** Increases with every change, for useSyncExternalStore. */
  get version(): number {
    return this.#version;
  }

  get(name: string): MetricSeries | undefined {
    return this.#series.get(name);
  }

  names(): string[] {
    return [...this.#series.keys()];
  }

  times(): MetricSeries {
    return this.#times;
  }

  /** Replaces all data. */
  load(all: Series[], times: IterationTimes = { iterations: [], times: [] }, requestFiner?: RequestFiner): void {
    this.#series.clear();
    this.#requested.clear();
    this.#requestFiner = requestFiner ?? null;
    for (const series of all) this.#open(series.name).replace(series);
    this.#times.replace({ iterations: times.iterations, values: times.times });
    this.#changed();
  }

  apply(notice: Pick<Notice<'metrics'>, 'truncateAfter' | 'points'>): void {
    if (notice.truncateAfter !== null) {
      for (const series of [this.#times, ...this.#series.values()]) series.truncateAfter(notice.truncateAfter);
    }
    for (const { iteration, metrics, time } of notice.points) {
      for (const [name, value] of Object.entries(metrics)) this.#open(name).put(iteration, value);
      if (time !== undefined) this.#times.put(iteration, time);
    }
    this.#changed();
  }

  /** Requests finer data, unless the request equals the metric's last one. */
  refine(metric: string, after: number, upTo: number, entries: number): void {
    const range = [after, upTo, entries].join(' ');
    const requestFiner = this.#requestFiner;
    if (!requestFiner || this.#requested.get(metric) === range) return;
    this.#requested.set(metric, range);
    // Twice the resolution, so that each request at least halves the buckets.
    requestFiner(metric, after, upTo, 2 * entries)
      .then(([finer]) => {
        // The data may have been reloaded, or another range requested, since the request.
        if (!finer || this.#requested.get(metric) !== range) return;
        this.#series.get(metric)?.replace(finer, after, upTo);
        this.#changed();
      })
      .catch(() => this.#requested.delete(metric));
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #open(name: string): MetricSeries {
    let series = this.#series.get(name);
    if (!series) {
      series = new MetricSeries();
      this.#series.set(name, series);
    }
    return series;
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
