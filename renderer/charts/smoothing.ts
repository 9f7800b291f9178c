/**
 * Exponential moving average without the pull towards zero at the start (divided by 1 - weight^t).
 * `weight` in [0, 1): 0 leaves the values as they are.
 */
export function smooth(values: ArrayLike<number>, weight: number): number[] {
  const smoothed: number[] = [];
  let average = 0;
  let remaining = 1;
  for (let index = 0; index < values.length; index++) {
    average = weight * average + (1 - weight) * values[index]!;
    remaining *= weight;
    smoothed.push(average / (1 - remaining));
  }
  return smoothed;
}
