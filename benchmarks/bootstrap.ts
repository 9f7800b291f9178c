/** Returns reproducible random numbers in [0, 1) (mulberry32). */
export function randomNumbers(seed: number) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Computes the percentile bootstrap of a mean of paired differences.
 * @param differences one number per pair
 * @returns the mean and its 95 % interval
 */
export function bootstrapMean(differences: number[], resamples = 10_000, seed = 1) {
  const random = randomNumbers(seed);
  const n = differences.length;
  const means = Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += differences[Math.floor(random() * n)] ?? 0;
    return sum / n;
  }).sort((a, b) => a - b);
  const at = (share: number) => means[Math.floor(share * (resamples - 1))] ?? Number.NaN;
  return { mean: differences.reduce((a, b) => a + b, 0) / n, low: at(0.025), high: at(0.975) };
}
