/** One metric over iterations in growing typed arrays, ascending by iteration. */
export class MetricSeries {
  #iterations = new Float64Array(64);
  #values = new Float64Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  iterations(): Float64Array {
    return this.#iterations.subarray(0, this.#length);
  }

  values(): Float64Array {
    return this.#values.subarray(0, this.#length);
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
