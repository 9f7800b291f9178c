import { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

/** The band around a group's mean: one standard deviation to either side, or minimum to maximum. */
export type Band = 'deviation' | 'range';

interface Statistics {
  mean: MetricSeries;
  low: MetricSeries;
  high: MetricSeries;
}

/** The mean and band of a group, over the runs that have a value at an iteration. */
export class GroupSeries {
  /** Names the band. */
  readonly title: string;
  readonly mean: SeriesSource;
  readonly low: SeriesSource;
  readonly high: SeriesSource;
  readonly #members: readonly SeriesSource[];
  readonly #band: Band;
  readonly #statistics = new Map<string, Statistics | undefined>();
  #version = -1;

  constructor(members: readonly SeriesSource[], band: Band) {
    this.#members = members;
    this.#band = band;
    this.title = band === 'range' ? 'lowest to highest run' : 'one standard deviation to either side';
    this.mean = this.#source('mean');
    this.low = this.#source('low');
    this.high = this.#source('high');
  }

  #source(of: keyof Statistics): SeriesSource {
    const version = () => this.#members.reduce((sum, member) => sum + member.version, 0);
    return {
      get version() {
        return version();
      },
      get: (metric) => this.#of(metric, version())?.[of],
      names: () => [...new Set(this.#members.flatMap((member) => member.names()))],
      subscribe: (listener) => {
        const stops = this.#members.map((member) => member.subscribe(listener));
        return () => {
          for (const stop of stops) stop();
        };
      },
    };
  }

  #of(metric: string, version: number): Statistics | undefined {
    if (version !== this.#version) {
      this.#version = version;
      this.#statistics.clear();
    }
    if (!this.#statistics.has(metric)) {
      const all = this.#members.flatMap((member) => member.get(metric) ?? []);
      this.#statistics.set(metric, all.length > 0 ? statistics(all, this.#band) : undefined);
    }
    return this.#statistics.get(metric);
  }
}

function statistics(all: readonly MetricSeries[], band: Band): Statistics {
  const [mean, low, high] = [new MetricSeries(), new MetricSeries(), new MetricSeries()];
  const byIteration = new Map<number, number[]>();
  for (const [iteration, value] of all.flatMap(inBuckets(all))) {
    const values = byIteration.get(iteration);
    if (values) values.push(value);
    else byIteration.set(iteration, [value]);
  }
  for (const [iteration, values] of [...byIteration].sort(([a], [b]) => a - b)) {
    const average = values.reduce((sum, value) => sum + value, 0) / values.length;
    const deviation = deviationOf(values, average);
    mean.put(iteration, average);
    low.put(iteration, band === 'range' ? Math.min(...values) : average - deviation);
    high.put(iteration, band === 'range' ? Math.max(...values) : average + deviation);
  }
  return { mean, low, high };
}

/**
 * Returns a function that returns a series' iterations and values. If any series has buckets, all values are
 * means over the largest bucket size, so that they cover the same iterations.
 */
function inBuckets(all: readonly MetricSeries[]): (series: MetricSeries) => [number, number][] {
  const step = all.reduce(
    (longest, series) => series.counts()?.reduce((most, count) => Math.max(most, count), longest) ?? longest,
    1,
  );
  return (series) => {
    const values = series.values();
    if (step === 1) return [...series.iterations()].map((iteration, index) => [iteration, values[index]!]);
    const counts = series.counts();
    const buckets = new Map<number, { sum: number; count: number }>();
    series.iterations().forEach((iteration, index) => {
      const end = Math.ceil(iteration / step) * step;
      const { sum, count } = buckets.get(end) ?? { sum: 0, count: 0 };
      const points = counts?.[index] ?? 1;
      buckets.set(end, { sum: sum + points * values[index]!, count: count + points });
    });
    return [...buckets].map(([end, { sum, count }]) => [end, sum / count]);
  };
}

/** Returns the sample standard deviation (n - 1); 0 for a single run. */
function deviationOf(values: readonly number[], mean: number): number {
  if (values.length < 2) return 0;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
