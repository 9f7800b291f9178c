import { adjustForDifficulty, type Difficulty, newDifficulty } from './difficulty.ts';
import type { Facts } from './facts.ts';
import type { Parameters } from './parameters.ts';
import { mean, type Track, type Watched } from './track.ts';

/** How well a run does: its success, or its reward if it has no success metric. */
export interface Outcome {
  series: Watched | null;
  /** Mean over at least {@link minimumLevels} levels, and its standard error. NaN without data. */
  value: number;
  error: number;
  /** The highest mean so far. For success, at least {@link evaluationScale} times the first evaluation. */
  peak: number;
  /** Relative drop below the peak (for rewards, relative to their range or gain); 0 at the peak. */
  fall: number;
  /** Rise of the mean from the first to the second half of the last iterations, in the unit of `fall`; NaN with too few values. */
  trend: number;
}

export interface OutcomeMemory {
  peak: number;
  lowest: number;
  luck: Difficulty;
}

export const newOutcomeMemory = (): OutcomeMemory => ({
  peak: -1e308,
  lowest: 1e308,
  luck: newDifficulty(),
});

/** Success varies mostly between levels, so its mean needs this many. The collapse rule uses the same number. */
const minimumLevels = 80;
/** Evaluations use a lower temperature and succeed more often than training. */
const evaluationScale = 0.7;

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
  { window: shortest, stalled_for: longest }: Parameters,
  { rewardRange, groups, isTrained }: Facts,
  memory: OutcomeMemory,
): Outcome {
  const names: Watched[] = ['rollout/success_rate', 'rollout/reward_mean'];
  const series = names.find((name) => track.recent(name, index, 1).length > 0);
  if (!series) return unknown;
  const window = Math.max(shortest, Math.ceil(minimumLevels / groups));
  const adjust = adjustForDifficulty(track, index, series, memory.luck);
  const recent = track.recentIndices(series, index, window).map(adjust);
  const value = mean(recent);
  memory.lowest = Math.min(memory.lowest, value);
  if (recent.length >= window) memory.peak = Math.max(memory.peak, value);
  const isSuccess = series === 'rollout/success_rate';
  const atFirst = isSuccess ? evaluationScale * track.firstEvaluation(isTrained) : Number.NaN;
  const peak = Math.max(memory.peak, Number.isNaN(atFirst) ? memory.peak : atFirst);
  const scale = isSuccess ? peak : (rewardRange ?? peak - memory.lowest);
  const inUnits = (difference: number) => (scale > 0 && peak > -1e308 ? difference / scale : 0);
  return {
    series,
    value,
    error: Math.sqrt(variance(recent) / recent.length),
    peak,
    fall: Math.max(0, inUnits(peak - value)),
    trend: inUnits(riseOf(track.recentIndices(series, index, longest).map(adjust), longest)),
  };
}

function riseOf(values: readonly number[], count: number): number {
  if (values.length < count) return Number.NaN;
  const half = values.length >> 1;
  return mean(values.slice(half)) - mean(values.slice(0, half));
}

/** Estimates the variance from differences of neighbors, so that a trend does not count. */
function variance(values: readonly number[]): number {
  if (values.length < 3) return 0;
  const differences = values.slice(1).map((value, i) => (value - values[i]!) ** 2);
  return mean(differences) / 2;
}
