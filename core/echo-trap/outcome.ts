import type { Facts } from './facts.ts';
import type { Thresholds } from './thresholds.ts';
import { mean, type Track, type Watched } from './track.ts';

/** How well a run does, followed over its iterations; success, or rewards where there is no such thing. */
export interface Outcome {
  series: Watched | null;
  /** Mean of the last iterations, and its standard error by how they scatter. NaN while unknown. */
  value: number;
  error: number;
  /** The best that such a mean was; for success at least most of what the first evaluation says. */
  peak: number;
  /** The mean of twice as many iterations: what is judged where there is no hurry. */
  settled: number;
  /** How many iterations it counts. */
  seen: number;
  /** Rise of the mean from one half of the last iterations to the other, in the unit of `fall`; NaN until there are enough. */
  trend: number;
  /** Fall under the peak as a share of it (of rewards: of what was gained, or of their range); 0 at the peak. */
  fall: number;
}

export interface OutcomeMemory {
  peak: number;
  lowest: number;
  seen: number;
}

export const newOutcomeMemory = (): OutcomeMemory => ({ peak: -1e308, lowest: 1e308, seen: 0 });

/** A mean over twice the window, so that luck with the levels of an iteration makes no peak. */
const peakWindows = 2;
/** Evaluations play at a lower temperature, so they do better than training does. */
const ofEvaluation = 0.7;

/** Boards that a mean has to be over: success strays from one choice of boards to the next far more than from one episode to the next. */
const boards = 40;

export function followOutcome(
  track: Track,
  index: number,
  { window: shortest, stalled_for: longest }: Thresholds,
  { rewardRange, groups }: Facts,
  memory: OutcomeMemory,
): Outcome {
  const names: Watched[] = ['rollout/success_rate', 'rollout/reward_mean'];
  const series = names.find((name) => track.recent(name, index, 1).length > 0);
  if (!series) return { ...unknown, seen: memory.seen };
  if (!Number.isNaN(track.at(series, index))) memory.seen += 1;
  const window = Math.max(shortest, Math.ceil(boards / groups));
  const recent = track.recent(series, index, window);
  const longer = track.recent(series, index, peakWindows * window);
  const [value, settled] = [mean(recent), mean(longer)];
  memory.lowest = Math.min(memory.lowest, settled);
  if (longer.length >= window) memory.peak = Math.max(memory.peak, settled);
  const isSuccess = series === 'rollout/success_rate';
  const atFirst = isSuccess ? ofEvaluation * track.firstEvaluation : Number.NaN;
  const peak = Math.max(memory.peak, Number.isNaN(atFirst) ? memory.peak : atFirst);
  const scale = isSuccess ? peak : (rewardRange ?? peak - memory.lowest);
  const inUnits = (difference: number) => (scale > 0 && peak > -1e308 ? difference / scale : 0);
  return {
    series,
    value,
    settled,
    error: Math.sqrt(variance(longer) / Math.max(1, recent.length)),
    peak,
    seen: memory.seen,
    fall: Math.max(0, inUnits(peak - value)),
    trend: inUnits(riseOf(track.recent(series, index, longest), longest)),
  };
}

const unknown = {
  series: null,
  value: Number.NaN,
  settled: Number.NaN,
  error: 0,
  peak: Number.NaN,
  fall: 0,
  trend: Number.NaN,
} as const;

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
