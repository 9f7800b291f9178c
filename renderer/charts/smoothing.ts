/**
 * Computes an exponential moving average with bias correction (divided by 1 - weight^t). Writes into `smoothed` from
 * index `from`; earlier entries must have the same weight. `weight` in (0, 1). `counts`: number of points
 * per value; a mean counts that often, at the end of its bucket.
 */
export function continueSmoothing(
  values: ArrayLike<number>,
  smoothed: Float64Array,
  from: number,
  weight: number,
  counts: ArrayLike<number> | null = null,
): void {
  let before = from;
  if (counts) {
    before = 0;
    for (let index = 0; index < from; index++) before += counts[index]!;
  }
  let remaining = weight ** before;
  let average = from > 0 ? smoothed[from - 1]! * (1 - remaining) : 0;
  for (let index = from; index < values.length; index++) {
    const decay = counts ? weight ** counts[index]! : weight;
    average = decay * average + (1 - decay) * values[index]!;
    remaining *= decay;
    smoothed[index] = average / (1 - remaining);
  }
}
