/**
 * Exponential moving average without the pull towards zero at the start (divided by 1 - weight^t): writes those of `values` into `smoothed` from index `from`
 * on; what stands before it there is of the same weight. `weight` in (0, 1).
 */
export function continueSmoothing(
  values: ArrayLike<number>,
  smoothed: Float64Array,
  from: number,
  weight: number,
): void {
  let remaining = weight ** from;
  let average = from > 0 ? smoothed[from - 1]! * (1 - remaining) : 0;
  for (let index = from; index < values.length; index++) {
    average = weight * average + (1 - weight) * values[index]!;
    remaining *= weight;
    smoothed[index] = average / (1 - remaining);
  }
}
