import type { Track, Watched } from './track.ts';

/** The luck of an iteration's levels, taken out of a series: a control variate (docs/decisions/0053). */

/**
 * What is known so far of how a series follows the ease of the levels: how many values of the ease there were and their sum; over neighbouring iterations, the older ones
 * fading, the sum of the squared change of ease and that of the changes of ease and series multiplied. Plain numbers, so that it can be written down.
 */
export type Luck = [count: number, sum: number, squares: number, products: number];

export const newLuck = (): Luck => [0, 0, 0, 0];

const ease = 'rollout/level_ease';
/** Iterations after which a change counts half: a better policy gains more by easy levels. */
const halfLife = 40;
/** Squared changes of ease that the first estimates are held back by; of eight levels of the lake one change squared is about a quarter. */
const reserve = 1;

/**
 * Takes one more iteration in, and gives the series at an index as it would have been on levels of average ease: less the slope times how much easier they were. The slope is that
 * of changes from one iteration to the next, so that what a run learns meanwhile doesn't count. A run that doesn't tell the ease of its levels is left as it is.
 */
export function withoutLuck(
  track: Track,
  index: number,
  series: Watched,
  luck: Luck,
): (index: number) => number {
  const at = (name: Watched, i: number) => (i < 0 ? Number.NaN : track.at(name, i));
  const now = at(ease, index);
  const change = now - at(ease, index - 1);
  const gain = at(series, index) - at(series, index - 1);
  const fading = 0.5 ** (1 / halfLife);
  let [count, sum, squares, products] = luck;
  if (!Number.isNaN(now)) {
    count += 1;
    sum += now;
  }
  if (!Number.isNaN(change * gain)) {
    squares = fading * squares + change ** 2;
    products = fading * products + change * gain;
  }
  luck.splice(0, 4, count, sum, squares, products);
  const slope = products / (squares + reserve);
  const usual = count > 0 ? sum / count : 0;
  return (i) => {
    const easier = at(ease, i) - usual;
    return track.at(series, i) - (Number.isNaN(easier) ? 0 : slope * easier);
  };
}
