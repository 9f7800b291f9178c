import type { Facts } from './facts.ts';
import { type Luck, newLuck, withoutLuck } from './luck.ts';
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
  luck: Luck;
}

export const newOutcomeMemory = (): OutcomeMemory => ({
  peak: -1e308,
  lowest: 1e308,
  luck: newLuck(),
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
  { rewardRange, groups, isTrained }: Facts,
  memory: OutcomeMemory,
): Outcome {
  const names: Watched[] = ['rollout/success_rate', 'rollout/reward_mean'];
  const series = names.find((name) => track.recent(name, index, 1).length > 0);
  if (!series) return unknown;
  const window = Math.max(shortest, Math.ceil(boards / groups));
  const correct = withoutLuck(track, index, series, memory.luck);
  const recent = track.recentIndices(series, index, window).map(correct);
  const value = mean(recent);
  memory.lowest = Math.min(memory.lowest, value);
  if (recent.length >= window) memory.peak = Math.max(memory.peak, value);
  const isSuccess = series === 'rollout/success_rate';
  const atFirst = isSuccess ? ofEvaluation * track.firstEvaluation(isTrained) : Number.NaN;
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
