import type { TrapRegime, TrapSignal } from '../contract/echo-trap.ts';
import { adjustForDifficulty, type Difficulty, newDifficulty } from './difficulty.ts';
import type { Facts } from './facts.ts';
import type { Outcome } from './outcome.ts';
import type { Parameters } from './parameters.ts';
import { mean, median, type Track, type Watched } from './track.ts';

/** Input of a detector: the series up to an index. */
export interface View {
  track: Track;
  index: number;
  iteration: number;
  facts: Facts;
  parameters: Parameters;
  /** Thresholds of all detectors, by name. */
  thresholds: Readonly<Record<string, number>>;
  outcome: Outcome;
}

/** State of a detector between iterations. It must be serializable as JSON. */
export type Memory = Record<string, number | number[]>;

export interface Reading {
  /** Empty if the reading is not of a single metric. */
  series: Watched | '';
  value: number;
  baseline: number;
  /** The value at which the signal turns on. */
  threshold: number;
  /** The side of the threshold that is evidence of collapse. */
  worse: 'above' | 'below';
  /** `hot`: beyond the threshold. `cool`: clearly back below it. Neither: within the hysteresis. */
  hot: boolean;
  cool: boolean;
}

/** A threshold of a detector: its default and range. Fractions are relative to a run's own baseline or peak, so none depends on the scale of rewards. */
export interface Threshold {
  value: number;
  minimum: number;
  maximum: number;
  whole: boolean;
}
export const threshold = (value: number, minimum: number, maximum: number): Threshold => ({
  ...{ value, minimum, maximum },
  whole: false,
});
export const iterations = (value: number, minimum: number, maximum: number): Threshold => ({
  ...{ value, minimum, maximum },
  whole: true,
});

type Values<T> = { readonly [Name in keyof T]: number };

/** A detector with its thresholds `T`. */
interface DetectorWith<T> extends Pick<TrapSignal, 'name' | 'title' | 'meaning' | 'stage'> {
  regime: TrapRegime | null;
  /** Detectors of one family observe the same quantity. */
  family: 'reward_std' | 'entropy' | 'reasoning' | 'actions' | 'format' | 'gradient' | 'success';
  /** Weight in the risk score, fitted to labeled runs. Absent if the signal is certain or has happened already, or only some runs measure it. */
  weight?: number;
  /** It raises a warning while it is on, whatever the other signals are. */
  decisive?: true;
  /** The RAGEN paper doesn't have it, so the paper's rule ignores it. */
  notInPaper?: true;
  /** Its strength is 1 while it is on and 0 otherwise, for any value. */
  allOrNothing?: true;
  /** What its baseline is. Default: the run's first iterations (`usual`). */
  reference?: TrapSignal['reference'];
  thresholds: T;
  /** Consecutive iterations to turn on or off, if they differ from the default. */
  onAfter?: (thresholds: Values<T>) => number;
  offAfter?: (thresholds: Values<T>) => number;
  /** Returns null if its series has no data. */
  read(view: View, memory: Memory, thresholds: Values<T>): Reading | null;
}

/** Checks for one kind of failure. Deterministic: the same series and memory give the same reading. */
export type Detector = DetectorWith<Readonly<Record<string, Threshold>>>;

/** A detector has stage `early` and either failure mode, unless its definition has another stage or regime. */
type Definition<T> = Omit<DetectorWith<T>, 'stage' | 'regime'> & Partial<Pick<DetectorWith<T>, 'stage' | 'regime'>>;

/** Gives `read` typed access to the detector's own thresholds. */
export const detector = <T extends Readonly<Record<string, Threshold>>>(definition: Definition<T>): Detector =>
  ({ stage: 'early', regime: null, ...definition }) as unknown as Detector;

/** Upper bound of a strength. */
const maximumStrength = 2;

/** Returns how far a reading is between baseline (0) and threshold (1), up to {@link maximumStrength}. */
export function strengthOf({ value, baseline, threshold, hot }: Reading): number {
  const distance = threshold - baseline;
  if (!(Math.abs(distance) > 0)) return Number(hot);
  const strength = (value - baseline) / distance;
  return Number.isNaN(strength) ? 0 : Math.min(maximumStrength, Math.max(0, strength));
}

/** Values that a mean or a baseline needs. */
export const minimumValues = 3;

/** Returns the mean of the last values, or NaN if there are too few. */
export function smooth({ track, index, parameters }: View, name: Watched, window = parameters.window): number {
  const values = track.recent(name, index, window);
  return values.length < Math.min(minimumValues, window) ? Number.NaN : mean(values);
}

/**
 * Returns the difficulty-adjusted mean of the last values, or NaN if there are fewer than three. It starts at the third value because a run's early
 * values are often its best; later baselines predicted collapse worse.
 */
export function smoothAdjusted(view: View, memory: Memory, name: Watched, window: number): number {
  memory.luck ??= newDifficulty();
  const adjusted = adjustForDifficulty(view.track, view.index, name, memory.luck as Difficulty);
  const values = view.track.recentIndices(name, view.index, window).map(adjusted);
  return values.length < minimumValues ? Number.NaN : mean(values);
}

/** Returns the median of a series' first values, or NaN before the third. */
export function baselineOf({ track, index, parameters }: View, memory: Memory, name: Watched): number {
  const first = memory[name] ?? [];
  if (typeof first === 'number') return first;
  const value = track.at(name, index);
  if (!Number.isNaN(value)) first.push(value);
  memory[name] = first.length < parameters.baseline ? first : median(first);
  return first.length < minimumValues ? Number.NaN : median(first);
}

/** Updates and returns the maximum under a key of the memory. NaN is ignored. */
export function peakOf(memory: Memory, key: string, value: number): number {
  const before = (memory[key] as number | undefined) ?? Number.NEGATIVE_INFINITY;
  const peak = Number.isNaN(value) ? before : Math.max(before, value);
  if (Number.isFinite(peak)) memory[key] = peak;
  return peak;
}

/** Builds a reading of a value that is bad when low. */
export function low(view: View, series: Watched, value: number, baseline: number, threshold: number) {
  const recovered = threshold + view.parameters.hysteresis * (baseline - threshold);
  const cool = value >= Math.max(recovered, threshold);
  return { series, value, baseline, threshold, worse: 'below', hot: value < threshold, cool } satisfies Reading;
}

/** Builds a reading of a value that is bad when high. */
export function high(view: View, series: Watched, value: number, baseline: number, threshold: number) {
  const recovered = threshold + view.parameters.hysteresis * (baseline - threshold);
  const cool = value <= Math.min(recovered, threshold);
  return { series, value, baseline, threshold, worse: 'above', hot: value > threshold, cool } satisfies Reading;
}

/** Compares a series with its baseline. The threshold is `factor` times the baseline; above 1, high values are bad. `windows`: number of windows to average over. */
export function againstStart(view: View, memory: Memory, series: Watched, factor: number, windows = 1): Reading | null {
  const value = smooth(view, series, windows * view.parameters.window);
  const baseline = baselineOf(view, memory, series);
  if (Number.isNaN(value) || !(baseline > 0)) return null;
  return (factor > 1 ? high : low)(view, series, value, baseline, factor * baseline);
}
