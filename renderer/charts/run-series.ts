import type { IterationTimes, Notice, Series } from '../../core/contract/contract.ts';
import { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

/** Requests a metric after one iteration, up to another, in about `resolution` entries. */
type AskFiner = (metric: string, after: number, upTo: number, resolution: number) => Promise<Series[]>;

/** All metrics of one run, outside React. Charts subscribe and redraw in the next animation frame. */
export class RunSeries implements SeriesSource {
  readonly #series = new Map<string, MetricSeries>();
  readonly #listeners = new Set<() => void>();
  readonly #times = new MetricSeries();
  #askFiner: AskFiner | null = null;
  /** The last request per metric. */
  readonly #asked = new Map<string, string>();
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
  load(all: Series[], times: IterationTimes = { iterations: [], times: [] }, askFiner?: AskFiner): void {
    this.#series.clear();
    this.#asked.clear();
    this.#askFiner = askFiner ?? null;
    for (const series of all) this.#open(series.name).replace(series);
    this.#times.replace({ iterations: times.iterations, values: times.times });
    this.#changed();
  }

  apply(notice: Pick<Notice<'metrics'>, 'truncateAfter' | 'points'>): void {
    if (notice.truncateAfter !== null) {
      for (const series of [this.#times, ...this.#series.values()])
        series.truncateAfter(notice.truncateAfter);
    }
    for (const { iteration, metrics, time } of notice.points) {
      for (const [name, value] of Object.entries(metrics)) this.#open(name).put(iteration, value);
      if (time !== undefined) this.#times.put(iteration, time);
    }
    this.#changed();
  }

  /** Requests each range once: the answer holds all points. */
  refine(metric: string, after: number, upTo: number, entries: number): void {
    const asked = [after, upTo, entries].join(' ');
    const askFiner = this.#askFiner;
    if (!askFiner || this.#asked.get(metric) === asked) return;
    this.#asked.set(metric, asked);
    // Ranges are halved at least.
    askFiner(metric, after, upTo, 2 * entries)
      .then(([finer]) => {
        // The data may have been reloaded, or another range requested, since the request.
        if (!finer || this.#asked.get(metric) !== asked) return;
        this.#series.get(metric)?.replace(finer, after, upTo);
        this.#changed();
      })
      .catch(() => this.#asked.delete(metric));
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
