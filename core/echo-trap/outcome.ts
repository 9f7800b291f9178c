import { mean, type Track, type Watched } from './track.ts';

/** How well a run does, followed over its iterations; success, or rewards where there is no such thing. */
export interface Outcome {
  series: Watched | null;
  /** Mean of the last iterations, and its standard error by how they scatter. NaN while unknown. */
  value: number;
  error: number;
  /** The best that such a mean was; for success at least most of what the first evaluation says. */
  peak: number;
  /** Iterations since the best, and how many it counts. */
  sincePeak: number;
  seen: number;
  /** Fall under the peak as a share of it (of rewards: of what was gained, or of their range); 0 at the peak. */
  fall: number;
}

export interface OutcomeMemory {
  peak: number;
  peakAt: number;
  lowest: number;
  seen: number;
}

export const newOutcomeMemory = (): OutcomeMemory => ({ peak: -1e308, peakAt: 0, lowest: 1e308, seen: 0 });

/** A mean over twice the window, so that luck with the levels of an iteration makes no peak. */
const peakWindows = 2;
/** Evaluations play at a lower temperature, so they do better than training does. */
const ofEvaluation = 0.7;

export function followOutcome(
  track: Track,
  index: number,
  window: number,
  rewardRange: number | null,
  memory: OutcomeMemory,
): Outcome {
  const unknown = { series: null, value: Number.NaN, error: 0, peak: Number.NaN, sincePeak: 0, fall: 0 };
  const names: Watched[] = ['rollout/success_rate', 'rollout/reward_mean'];
  const series = names.find((name) => track.recent(name, index, 1).length > 0);
  if (!series) return { ...unknown, seen: memory.seen };
  if (!Number.isNaN(track.at(series, index))) memory.seen += 1;
  const recent = track.recent(series, index, window);
  const value = mean(recent);
  const longer = track.recent(series, index, peakWindows * window);
  const settled = mean(longer);
  const isSuccess = series === 'rollout/success_rate';
  const floor = isSuccess ? ofEvaluation * track.firstEvaluation : Number.NaN;
  if (memory.seen <= 1) memory.lowest = value;
  memory.lowest = Math.min(memory.lowest, value);
  const best = longer.length >= Math.min(window, 3) ? settled : Number.NEGATIVE_INFINITY;
  if (best > memory.peak) {
    memory.peak = best;
    memory.peakAt = memory.seen;
  }
  const peak = Math.max(memory.peak, Number.isNaN(floor) ? -1e308 : floor);
  const scale = isSuccess ? peak : (rewardRange ?? peak - memory.lowest);
  const fall = peak > -1e308 && scale > 0 ? Math.max(0, (peak - value) / scale) : 0;
  const error = Math.sqrt(variance(longer) / Math.max(1, recent.length));
  return { series, value, error, peak, sincePeak: memory.seen - memory.peakAt, seen: memory.seen, fall };
}

/** By differences of neighbours, so that a trend doesn't count as scatter. */
function variance(values: readonly number[]): number {
  if (values.length < 3) return 0;
  const differences = values.slice(1).map((value, i) => (value - values[i]!) ** 2);
  return mean(differences) / 2;
}
