import { detectors, type Latch } from './signals.ts';
import type { Thresholds } from './thresholds.ts';

/**
 * How near a run is to a fall: every sign counts its points times how far it has come on the way from the run's own normal (of the clip: from none) to its threshold. A warning
 * takes a risk of 1. Points are a logistic regression's on labelled runs (fit.ts).
 */

/** Signs that count, as places in {@link detectors}. */
export const counted: readonly number[] = detectors.flatMap(({ uncounted }, i) => (uncounted ? [] : i));

/** The risk that is worth an eye, and from which a run is no longer gone back to. */
export const uneasy = 0.7;

/** What has been seen must give so much of it: what a run was given is no reason to look by itself. */
export const leastSeen = 0.1;

/** How far each sign that counts has come. */
export const strengthsOf = (latches: readonly Latch[]): number[] => counted.map((i) => latches[i]!.strength);

/** Points were fitted to runs whose thoughts are known by signs that count, and say nothing of others. */
export const isCounted = (latches: readonly Latch[]) =>
  counted.some((i) => latches[i]!.reading !== null && detectors[i]!.family === 'thoughts');

/** The points that each detector gives at present, in their order. */
export function countsOf(latches: readonly Latch[], { points }: Thresholds): number[] {
  const counts = detectors.map(() => 0);
  if (!isCounted(latches)) return counts;
  for (const [at, strength] of strengthsOf(latches).entries()) {
    const i = counted[at]!;
    counts[i] = strength * points[detectors[i]!.name as keyof typeof points];
  }
  return counts;
}

/** The risk that what was seen gives, less what the run was given. */
export const seenRisk = (latches: readonly Latch[], thresholds: Thresholds): number =>
  countsOf(latches, thresholds).reduce(
    (sum, count, i) => sum + (detectors[i]!.stage === 'setting' ? 0 : count),
    0,
  );

/** Null where points say nothing. */
export const riskOf = (latches: readonly Latch[], thresholds: Thresholds): number | null =>
  isCounted(latches) ? countsOf(latches, thresholds).reduce((sum, count) => sum + count, 0) : null;
