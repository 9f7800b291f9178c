import type { TrapRegime, TrapSignal } from '../contract/echo-trap.ts';
import type { Facts } from './facts.ts';
import { type Luck, newLuck, withoutLuck } from './luck.ts';
import type { Outcome } from './outcome.ts';
import type { Thresholds } from './thresholds.ts';
import { mean, median, type Track, type Watched } from './track.ts';

/** What a detector may look at: the series up to an index, and nothing after it. */
export interface View {
  track: Track;
  index: number;
  iteration: number;
  facts: Facts;
  thresholds: Thresholds;
  outcome: Outcome;
}

/** What a detector keeps from one iteration to the next; plain, so that it can be written down. */
export type Memory = Record<string, number | number[]>;

export interface Reading {
  /** Empty where it is of no single metric. */
  series: Watched | '';
  value: number;
  baseline: number;
  /** The value at which it comes on. */
  threshold: number;
  /** Whether the value is beyond its threshold, and whether it is well on this side of it; neither: between the two. */
  hot: boolean;
  cool: boolean;
}

/** A sign of one kind in one series. Pure: the same series and memory give the same reading. */
export interface Detector extends Pick<TrapSignal, 'name' | 'title' | 'meaning' | 'stage'> {
  regime: TrapRegime | null;
  /** What it looks at: detectors of one family see the same thing. */
  family: 'spread' | 'entropy' | 'thoughts' | 'moves' | 'form' | 'gradient' | 'success';
  /** The paper didn't have it: it counts in points alone. */
  later?: true;
  /** It has no points: it is beyond doubt or has happened already, or only some runs measure it, and points would say more of who measured it. */
  uncounted?: true;
  /** What its value says passes at once or only counts after a while: it has its strength while it is on, whatever its value. */
  allOrNothing?: true;
  /** Iterations in a row that it takes, where they are others than everyone's. */
  onAfter?: (thresholds: Thresholds) => number;
  offAfter?: (thresholds: Thresholds) => number;
  /** Null where its series isn't there. */
  read(view: View, memory: Memory): Reading | null;
}

/** How far a value may be beyond its threshold and still count more. */
const strongest = 2;

/** How far a reading has come on the way from its baseline to its threshold: 0 at the baseline and on the good side of it, 1 at the threshold, {@link strongest} at most. */
export function strengthOf({ value, baseline, threshold, hot }: Reading): number {
  const way = threshold - baseline;
  if (!(Math.abs(way) > 0)) return Number(hot);
  const come = (value - baseline) / way;
  return Number.isNaN(come) ? 0 : Math.min(strongest, Math.max(0, come));
}

/** Mean of the last values; NaN where there are too few. */
export function smooth(
  { track, index, thresholds }: View,
  name: Watched,
  window = thresholds.window,
): number {
  const values = track.recent(name, index, window);
  return values.length < Math.min(3, window) ? Number.NaN : mean(values);
}

/**
 * Mean of the last values as they would have been on levels of average ease, where the run tells how easy they were: which levels came up moves some series as much as the policy does.
 * From the third value on, as others: what a run did before its policy narrowed is often its best, and measured against later means falls were foretold worse.
 */
export function smoothLevelled(view: View, memory: Memory, name: Watched, window: number): number {
  memory.luck ??= newLuck();
  const levelled = withoutLuck(view.track, view.index, name, memory.luck as Luck);
  const values = view.track.recentIndices(name, view.index, window).map(levelled);
  return values.length < 3 ? Number.NaN : mean(values);
}

/** The median of a series' first values; NaN until there are three. Once it is settled the values are forgotten. */
export function baselineOf({ track, index, thresholds }: View, memory: Memory, name: Watched): number {
  const known = memory[name] ?? [];
  if (typeof known === 'number') return known;
  const value = track.at(name, index);
  if (!Number.isNaN(value)) known.push(value);
  memory[name] = known.length < thresholds.baseline ? known : median(known);
  return known.length < 3 ? Number.NaN : median(known);
}

/** The largest that a number of the memory has been; NaN counts as nothing. */
export function peakOf(memory: Memory, key: string, value: number): number {
  const before = (memory[key] as number | undefined) ?? Number.NEGATIVE_INFINITY;
  const peak = Number.isNaN(value) ? before : Math.max(before, value);
  if (Number.isFinite(peak)) memory[key] = peak;
  return peak;
}

/** A value that is bad when it is low: hot under its threshold, cool where it has come back far enough towards its baseline. */
export function low(view: View, series: Watched, value: number, baseline: number, threshold: number) {
  const back = threshold + view.thresholds.hysteresis * (baseline - threshold);
  const cool = value >= Math.max(back, threshold);
  return { series, value, baseline, threshold, hot: value < threshold, cool } satisfies Reading;
}

/** The same where high is bad. */
export function high(view: View, series: Watched, value: number, baseline: number, threshold: number) {
  const back = threshold + view.thresholds.hysteresis * (baseline - threshold);
  const cool = value <= Math.min(back, threshold);
  return { series, value, baseline, threshold, hot: value > threshold, cool } satisfies Reading;
}

/** A series against the run's own first values: bad from `factor` times them on, upwards where that is more than 1. `windows`: over how many windows it is averaged. */
export const againstStart =
  (series: Watched, factor: (thresholds: Thresholds) => number, windows = 1): Detector['read'] =>
  (view, memory) => {
    const value = smooth(view, series, windows * view.thresholds.window);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || !(baseline > 0)) return null;
    const share = factor(view.thresholds);
    return (share > 1 ? high : low)(view, series, value, baseline, share * baseline);
  };
