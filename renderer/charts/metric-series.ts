import { continueSmoothing } from './smoothing.ts';

/** One metric over iterations in growing typed arrays, ascending by iteration. */
export class MetricSeries {
  #iterations = new Float64Array(64);
  #values = new Float64Array(64);
  #length = 0;
  /** The moving average, and how many of its values still hold. */
  #average = { weight: 0, values: new Float64Array(0), valid: 0 };

  get length(): number {
    return this.#length;
  }

  iterations(): Float64Array {
    return this.#iterations.subarray(0, this.#length);
  }

  values(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }

  /** Its moving average, `weight` in [0, 1): 0 are the values as they are. Kept, and continued as points come. */
  smoothed(weight: number): Float64Array {
    if (weight <= 0) return this.values();
    if (this.#average.weight !== weight) this.#average = { ...this.#average, weight, valid: 0 };
    const average = this.#average;
    if (average.values.length < this.#length) {
      const larger = new Float64Array(this.#values.length);
      larger.set(average.values.subarray(0, average.valid));
      average.values = larger;
    }
    if (average.valid < this.#length) continueSmoothing(this.values(), average.values, average.valid, weight);
    average.valid = this.#length;
    return average.values.subarray(0, this.#length);
  }

  newest(): { iteration: number; value: number } | null {
    const last = this.#length - 1;
    return last < 0 ? null : { iteration: this.#iterations[last]!, value: this.#values[last]! };
  }

  /** Value at exactly this iteration. */
  at(iteration: number): number | undefined {
    const index = this.#lowerBound(iteration);
    return index < this.#length && this.#iterations[index] === iteration ? this.#values[index] : undefined;
  }

  /** Appends a newer point, replaces one of the same iteration, inserts one that comes late. */
  put(iteration: number, value: number): void {
    const index = this.#lowerBound(iteration);
    this.#average.valid = Math.min(this.#average.valid, index);
    if (index < this.#length && this.#iterations[index] === iteration) {
      this.#values[index] = value;
      return;
    }
    this.#reserve(this.#length + 1);
    this.#iterations.copyWithin(index + 1, index, this.#length);
    this.#values.copyWithin(index + 1, index, this.#length);
    this.#iterations[index] = iteration;
    this.#values[index] = value;
    this.#length += 1;
  }

  /** Drops what lies after the iteration a run was resumed from. */
  truncateAfter(iteration: number): void {
    this.#length = this.#lowerBound(iteration + 1);
    this.#average.valid = Math.min(this.#average.valid, this.#length);
  }

  #lowerBound(iteration: number): number {
    let low = 0;
    let high = this.#length;
    // Nearly every point is the newest one.
    if (high > 0 && this.#iterations[high - 1]! < iteration) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#iterations[middle]! < iteration) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #reserve(length: number): void {
    if (length <= this.#iterations.length) return;
    const capacity = this.#iterations.length * 2;
    this.#iterations = grown(this.#iterations, capacity);
    this.#values = grown(this.#values, capacity);
  }
}

function grown(array: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity);
  larger.set(array);
  return larger;
}
