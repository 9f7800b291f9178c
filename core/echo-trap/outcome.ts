import type { Facts } from './facts.ts';
import type { Thresholds } from './thresholds.ts';
import { mean, type Track, type Watched } from './track.ts';

/** How well a run does, followed over its iterations; success, or rewards where there is no such thing. */
export interface Outcome {
  series: Watched | null;
  /** Mean over at least {@link boards} boards, and its standard error by how it scatters. NaN while unknown. */
  value: number;
  error: number;
  /** The best that such a mean was; for success at least most of what the first evaluation says. */
  peak: number;
  /** How far the value is under the peak, as a share of it (of rewards: of their range, or of what was gained); 0 at the peak. */
  fall: number;
  /** Rise of the mean from one half of the last iterations to the other, in the unit of `fall`; NaN until there are enough. */
  trend: number;
}

export interface OutcomeMemory {
  peak: number;
  lowest: number;
  luck: LuckMemory;
}

/** What is known so far of how success follows the ease of the levels. */
interface LuckMemory {
  /** Known values of the ease, and their sum. */
  count: number;
  sum: number;
  /** Sums over neighbouring iterations, the older ones fading: of the squared change of ease, and of the changes of ease and outcome multiplied. */
  squares: number;
  products: number;
}

export const newOutcomeMemory = (): OutcomeMemory => ({
  peak: -1e308,
  lowest: 1e308,
  luck: { count: 0, sum: 0, squares: 0, products: 0 },
});

/** Success strays from one choice of boards to the next far more than from one episode to the next; the collapse rule counts over as many. */
const boards = 80;
/** Evaluations play at a lower temperature, so they do better than training does. */
const ofEvaluation = 0.7;

const unknown: Outcome = {
  series: null,
  value: Number.NaN,
  error: 0,
  peak: Number.NaN,
  fall: 0,
  trend: Number.NaN,
};

export function followOutcome(
  track: Track,
  index: number,
  { window: shortest, stalled_for: longest }: Thresholds,
  { rewardRange, groups }: Facts,
  memory: OutcomeMemory,
): Outcome {
  const names: Watched[] = ['rollout/success_rate', 'rollout/reward_mean'];
  const series = names.find((name) => track.recent(name, index, 1).length > 0);
  if (!series) return unknown;
  const window = Math.max(shortest, Math.ceil(boards / groups));
  const correct = luckOf(track, index, series, memory.luck);
  const recent = track.recentIndices(series, index, window).map(correct);
  const value = mean(recent);
  memory.lowest = Math.min(memory.lowest, value);
  if (recent.length >= window) memory.peak = Math.max(memory.peak, value);
  const isSuccess = series === 'rollout/success_rate';
  const atFirst = isSuccess ? ofEvaluation * track.firstEvaluation : Number.NaN;
  const peak = Math.max(memory.peak, Number.isNaN(atFirst) ? memory.peak : atFirst);
  const scale = isSuccess ? peak : (rewardRange ?? peak - memory.lowest);
  const inUnits = (difference: number) => (scale > 0 && peak > -1e308 ? difference / scale : 0);
  return {
    series,
    value,
    error: Math.sqrt(variance(recent) / recent.length),
    peak,
    fall: Math.max(0, inUnits(peak - value)),
    trend: inUnits(riseOf(track.recentIndices(series, index, longest).map(correct), longest)),
  };
}

const ease = 'rollout/level_ease';
/** Iterations after which a change counts half: a better policy gains more by easy levels. */
const halfLife = 40;
/** Squared changes of ease that the first estimates are held back by; of eight levels of the lake one change squared is about a quarter. */
const reserve = 1;

/**
 * Takes one more iteration in, and gives the outcome at an index as it would have been on levels of average ease: less the slope times how much easier they were. The slope is that
 * of changes from one iteration to the next, so that what a run learns meanwhile doesn't count (a control variate).
 */
function luckOf(track: Track, index: number, series: Watched, memory: LuckMemory): (index: number) => number {
  const at = (name: Watched, i: number) => (i < 0 ? Number.NaN : track.at(name, i));
  const now = at(ease, index);
  const change = now - at(ease, index - 1);
  const gain = at(series, index) - at(series, index - 1);
  const fading = 0.5 ** (1 / halfLife);
  if (!Number.isNaN(now)) {
    memory.count += 1;
    memory.sum += now;
  }
  if (!Number.isNaN(change * gain)) {
    memory.squares = fading * memory.squares + change ** 2;
    memory.products = fading * memory.products + change * gain;
  }
  const slope = memory.products / (memory.squares + reserve);
  const usual = memory.count > 0 ? memory.sum / memory.count : 0;
  return (i) => {
    const easier = at(ease, i) - usual;
    return track.at(series, i) - (Number.isNaN(easier) ? 0 : slope * easier);
  };
}

function riseOf(values: readonly number[], wanted: number): number {
  if (values.length < wanted) return Number.NaN;
  const half = values.length >> 1;
  return mean(values.slice(half)) - mean(values.slice(0, half));
}

/** By differences of neighbours, so that a trend doesn't count as scatter. */
function variance(values: readonly number[]): number {
  if (values.length < 3) return 0;
  const differences = values.slice(1).map((value, i) => (value - values[i]!) ** 2);
  return mean(differences) / 2;
}
