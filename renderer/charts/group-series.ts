import { MetricSeries } from './metric-series.ts';
import type { SeriesSource } from './series-source.ts';

/** What a group's band shows: one standard deviation to either side, or minimum to maximum. */
export type Spread = 'deviation' | 'range';

interface Statistics {
  mean: MetricSeries;
  low: MetricSeries;
  high: MetricSeries;
}

/** The mean and spread of a group's runs, over the runs that have a value at an iteration. */
export class GroupSeries {
  readonly mean: SeriesSource;
  readonly low: SeriesSource;
  readonly high: SeriesSource;
  readonly #members: readonly SeriesSource[];
  readonly #spread: Spread;
  readonly #statistics = new Map<string, Statistics | undefined>();
  #version = -1;

  constructor(members: readonly SeriesSource[], spread: Spread) {
    this.#members = members;
    this.#spread = spread;
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
      this.#statistics.set(metric, all.length > 0 ? statistics(all, this.#spread) : undefined);
    }
    return this.#statistics.get(metric);
  }
}

function statistics(all: readonly MetricSeries[], spread: Spread): Statistics {
  const [mean, low, high] = [new MetricSeries(), new MetricSeries(), new MetricSeries()];
  const byIteration = new Map<number, number[]>();
  for (const [iteration, value] of all.flatMap(inStretches(all))) {
    const there = byIteration.get(iteration);
    if (there) there.push(value);
    else byIteration.set(iteration, [value]);
  }
  for (const [iteration, values] of [...byIteration].sort(([a], [b]) => a - b)) {
    const average = values.reduce((sum, value) => sum + value, 0) / values.length;
    const deviation = deviationOf(values, average);
    mean.put(iteration, average);
    low.put(iteration, spread === 'range' ? Math.min(...values) : average - deviation);
    high.put(iteration, spread === 'range' ? Math.max(...values) : average + deviation);
  }
  return { mean, low, high };
}

/**
 * Returns a series' iterations and values. If any series has buckets, all are brought to the largest bucket
 * size, so that means cover the same iterations.
 */
function inStretches(all: readonly MetricSeries[]): (series: MetricSeries) => [number, number][] {
  const step = all.reduce(
    (longest, series) => series.counts()?.reduce((most, count) => Math.max(most, count), longest) ?? longest,
    1,
  );
  return (series) => {
    const values = series.values();
    if (step === 1) return [...series.iterations()].map((iteration, index) => [iteration, values[index]!]);
    const counts = series.counts();
    const stretches = new Map<number, { sum: number; count: number }>();
    series.iterations().forEach((iteration, index) => {
      const end = Math.ceil(iteration / step) * step;
      const { sum, count } = stretches.get(end) ?? { sum: 0, count: 0 };
      const own = counts?.[index] ?? 1;
      stretches.set(end, { sum: sum + own * values[index]!, count: count + own });
    });
    return [...stretches].map(([end, { sum, count }]) => [end, sum / count]);
  };
}

/** Sample standard deviation (n - 1); 0 for a single run. */
function deviationOf(values: readonly number[], mean: number): number {
  if (values.length < 2) return 0;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
