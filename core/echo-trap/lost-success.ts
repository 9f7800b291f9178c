import type { RunCollapse } from '../contract/contract.ts';
import { least, lost } from './collapse-rule.ts';

/** Success in [0, 1] at an iteration, and its 95 % interval if it is known. */
export interface Success {
  iteration: number;
  success: number;
  low: number | null;
  high: number | null;
}

/**
 * Returns how much success a run has lost, or null if its last success is at least half of its peak. `points`: ascending by iteration.
 * The two intervals must not overlap, so that a difference of a few levels doesn't count as a collapse.
 */
export function lostSuccess(points: readonly Success[]): Pick<RunCollapse, 'peak' | 'last'> | null {
  const last = points.at(-1);
  if (!last) return null;
  const peak = highest(points)[0]!;
  if (peak.success < least || last.success >= lost * peak.success) return null;
  if (peak.low !== null && last.high !== null && last.high >= peak.low) return null;
  const at = ({ iteration, success }: Success) => ({ iteration, success });
  return { peak: at(peak), last: at(last) };
}

/** Returns the first point with the highest success, if there are points. */
export function highest(points: readonly Success[]): Success[] {
  return points.length === 0 ? [] : [points.reduce((best, point) => (point.success > best.success ? point : best))];
}

/** Returns the means over `window` successive points, each at its last iteration. */
export function windowMeans(points: readonly { iteration: number; success: number }[], window: number): Success[] {
  return points.slice(window - 1).map(({ iteration }, start) => {
    // A running sum would accumulate rounding errors: successes of 0 would have a mean below 0.
    const sum = points.slice(start, start + window).reduce((total, { success }) => total + success, 0);
    return { iteration, success: sum / window, low: null, high: null };
  });
}
