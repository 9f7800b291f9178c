import type { Track, Watched } from './track.ts';

/** Difficulty adjustment: removes the effect of the sampled levels' difficulty from a series, as a control variate (docs/decisions/0053). */

/**
 * Running statistics of how a series follows the chance of random success on the sampled levels: count and sum of its log-probability;
 * exponentially weighted sums of its squared changes, and of products of its changes and those of the series. Serializable as JSON.
 */
export type Difficulty = [count: number, sum: number, squares: number, products: number];

export const newDifficulty = (): Difficulty => [0, 0, 0, 0];

const randomSuccess = 'rollout/random_success_logprob';
/** Half-life of the weights, in iterations. The slope changes as the policy improves. */
const halfLife = 40;
/** Regularizes the first slope estimates, in squared changes of the log-probability. With eight FrozenLake levels one squared change is about 0.25. */
const regularization = 1;

/**
 * Adds one iteration to the statistics. Returns a function that gives the series at an index, adjusted to levels of average difficulty. The slope comes
 * from changes between iterations, so that learning does not count. Runs without `rollout/random_success_logprob` are not adjusted.
 */
export function adjustForDifficulty(
  track: Track,
  index: number,
  series: Watched,
  difficulty: Difficulty,
): (index: number) => number {
  const at = (name: Watched, i: number) => (i < 0 ? Number.NaN : track.at(name, i));
  const now = at(randomSuccess, index);
  const change = now - at(randomSuccess, index - 1);
  const gain = at(series, index) - at(series, index - 1);
  const decay = 0.5 ** (1 / halfLife);
  let [count, sum, squares, products] = difficulty;
  if (!Number.isNaN(now)) {
    count += 1;
    sum += now;
  }
  if (!Number.isNaN(change * gain)) {
    squares = decay * squares + change ** 2;
    products = decay * products + change * gain;
  }
  difficulty.splice(0, 4, count, sum, squares, products);
  const slope = products / (squares + regularization);
  const average = count > 0 ? sum / count : 0;
  return (i) => {
    const easier = at(randomSuccess, i) - average;
    return track.at(series, i) - (Number.isNaN(easier) ? 0 : slope * easier);
  };
}
