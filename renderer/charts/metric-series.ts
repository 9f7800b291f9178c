import type { Series } from '../../core/contract/contract.ts';
import { continueSmoothing } from './smoothing.ts';

/** For series with buckets: minimum, maximum and number of points of each entry. */
interface Buckets {
  min: Float64Array<ArrayBuffer>;
  max: Float64Array<ArrayBuffer>;
  counts: Float64Array<ArrayBuffer>;
}

/**
 * One metric over iterations, ascending, in growing typed arrays. An entry is a point, or in long series a
 * bucket of points: the last iteration with mean, minimum and maximum. Finer entries can replace coarse
 * ones.
 */
export class MetricSeries {
  #iterations = new Float64Array(64);
  #values = new Float64Array(64);
  /** Null while every entry is a point. */
  #buckets: Buckets | null = null;
  #length = 0;
  /** The moving average, and the number of its values that are still valid. */
  #average = { weight: 0, values: new Float64Array(0), valid: 0 };

  get length(): number {
    return this.#length;
  }

  /** Returns the value that all entries have; undefined if they differ or there are none. */
  constant(): number | undefined {
    const [low, high] = [this.min(), this.max()];
    const first = low[0];
    return low.every((value, index) => value === first && high[index] === first) ? first : undefined;
  }

  iterations(): Float64Array {
    return this.#iterations.subarray(0, this.#length);
  }

  /** Values of points, means of buckets. */
  values(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }

  min(): Float64Array {
    return (this.#buckets?.min ?? this.#values).subarray(0, this.#length);
  }

  max(): Float64Array {
    return (this.#buckets?.max ?? this.#values).subarray(0, this.#length);
  }

  /** Number of points per entry; null if all are single points. */
  counts(): Float64Array | null {
    return this.#buckets?.counts.subarray(0, this.#length) ?? null;
  }

  /**
   * Returns the moving average with `weight` in [0, 1); 0 returns raw values. Cached, and continued when
   * points are added.
   */
  smoothed(weight: number): Float64Array {
    if (weight <= 0) return this.values();
    if (this.#average.weight !== weight) this.#average = { ...this.#average, weight, valid: 0 };
    const average = this.#average;
    if (average.values.length < this.#length) {
      const larger = new Float64Array(this.#values.length);
      larger.set(average.values.subarray(0, average.valid));
      average.values = larger;
    }
    if (average.valid < this.#length)
      continueSmoothing(this.values(), average.values, average.valid, weight, this.counts());
    average.valid = this.#length;
    return average.values.subarray(0, this.#length);
  }

  newest(): { iteration: number; value: number } | null {
    const last = this.#length - 1;
    return last < 0 ? null : { iteration: this.#iterations[last]!, value: this.#values[last]! };
  }

  /** Returns the value at exactly this iteration. */
  at(iteration: number): number | undefined {
    const index = this.#lowerBound(iteration);
    return index < this.#length && this.#iterations[index] === iteration ? this.#values[index] : undefined;
  }

  /** Appends, replaces or inserts a point. Points within a bucket are ignored, since the bucket contains them. */
  put(iteration: number, value: number): void {
    const index = this.#lowerBound(iteration);
    if (index < this.#length && (this.#buckets?.counts[index] ?? 1) > 1) return;
    this.#average.valid = Math.min(this.#average.valid, index);
    if (index === this.#length || this.#iterations[index] !== iteration) this.#move(index, index + 1);
    this.#iterations[index] = iteration;
    this.#values[index] = value;
    this.#fill(index, value, value, 1);
  }

  /** Replaces the entries after one iteration, up to another; all by default. */
  replace(
    { iterations, values, buckets }: Omit<Series, 'name'>,
    after = Number.NEGATIVE_INFINITY,
    upTo = Number.POSITIVE_INFINITY,
  ): void {
    const from = this.#lowerBound(after, true);
    this.#move(this.#lowerBound(upTo, true), from + iterations.length);
    this.#average.valid = Math.min(this.#average.valid, from);
    if (buckets) this.#buckets ??= bucketsOf(this.#values, this.#length);
    this.#iterations.set(iterations, from);
    this.#values.set(values, from);
    for (const [index, value] of this.#buckets ? values.entries() : [])
      this.#fill(from + index, buckets?.min[index] ?? value, buckets?.max[index] ?? value, buckets?.counts[index] ?? 1);
  }

  /** Removes entries after the iteration from which a run was resumed, including the bucket that contains it. */
  truncateAfter(iteration: number): void {
    this.#length = this.#lowerBound(iteration, true);
    this.#average.valid = Math.min(this.#average.valid, this.#length);
  }

  #fill(index: number, min: number, max: number, count: number): void {
    if (!this.#buckets) return;
    this.#buckets.min[index] = min;
    this.#buckets.max[index] = max;
    this.#buckets.counts[index] = count;
  }

  /** Returns the index of the first entry at or after an iteration; with `beyond`, after it. */
  #lowerBound(iteration: number, beyond = false): number {
    const isBefore = (each: number) => each < iteration || (beyond && each === iteration);
    let low = 0;
    let high = this.#length;
    // Nearly every point is the newest.
    if (high > 0 && isBefore(this.#iterations[high - 1]!)) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#iterations[middle]!)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Moves the entries from one index on to another. */
  #move(from: number, to: number): void {
    const length = this.#length + to - from;
    this.#reserve(length);
    const { min, max, counts } = this.#buckets ?? {};
    for (const array of [this.#iterations, this.#values, min, max, counts]) array?.copyWithin(to, from, this.#length);
    this.#length = length;
  }

  #reserve(length: number): void {
    if (length <= this.#iterations.length) return;
    const capacity = Math.max(length, this.#iterations.length * 2);
    this.#iterations = grown(this.#iterations, capacity);
    this.#values = grown(this.#values, capacity);
    if (!this.#buckets) return;
    const { min, max, counts } = this.#buckets;
    this.#buckets = {
      min: grown(min, capacity),
      max: grown(max, capacity),
      counts: grown(counts, capacity),
    };
  }
}

/** Returns buckets of one point each. */
const bucketsOf = (values: Float64Array<ArrayBuffer>, length: number): Buckets => ({
  min: values.slice(),
  max: values.slice(),
  counts: new Float64Array(values.length).fill(1, 0, length),
});

function grown(array: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity);
  larger.set(array);
  return larger;
}
