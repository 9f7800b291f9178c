import type { Notice, Series } from '../../core/contract/contract.ts';
import { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

/** All metrics of one run, outside React; charts listen and redraw in the next animation frame. */
export class RunSeries implements SeriesSource {
  readonly #series = new Map<string, MetricSeries>();
  readonly #listeners = new Set<() => void>();
  #version = 0;

  /** Rises with every change, for useSyncExternalStore. */
  get version(): number {
    return this.#version;
  }

  get(name: string): MetricSeries | undefined {
    return this.#series.get(name);
  }

  names(): string[] {
    return [...this.#series.keys()];
  }

  /** Replaces everything with what core has stored. */
  load(all: Series[]): void {
    this.#series.clear();
    for (const { name, iterations, values } of all) {
      const series = this.#open(name);
      for (const [index, iteration] of iterations.entries()) series.put(iteration, values[index]!);
    }
    this.#changed();
  }

  apply(notice: Pick<Notice<'metrics'>, 'truncateAfter' | 'points'>): void {
    if (notice.truncateAfter !== null) {
      for (const series of this.#series.values()) series.truncateAfter(notice.truncateAfter);
    }
    for (const { iteration, metrics } of notice.points) {
      for (const [name, value] of Object.entries(metrics)) this.#open(name).put(iteration, value);
    }
    this.#changed();
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
