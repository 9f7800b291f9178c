import { detectors, type Latch } from './signals.ts';
import type { Thresholds } from './thresholds.ts';

/**
 * The risk score: the sum over signals of weight times strength, the distance from baseline toward threshold. 1 or more triggers a
 * warning. The weights come from a logistic regression on labeled runs (fit.ts). A decisive signal adds 1 while it is on.
 */

/** Indices of the {@link detectors} with a weight. */
export const weighted: readonly number[] = detectors.flatMap(({ weight }, i) => (weight === undefined ? [] : i));

/** Risk score that triggers a warning. */
export const warnRisk = 1;

/** Risk score below which a warning clears. Lower than the one that triggers it, so that noise does not end a warning and start another. */
export const clearRisk = 0.8;

/** Minimum risk score of the `watch` state. A roll-back never targets an iteration with this score or a higher one. */
export const watchRisk = 0.7;

/** Minimum contribution of observed signals for `watch`; settings alone do not trigger it. */
export const minimumObserved = 0.1;

/** Logistic regression of collapse within 40 iterations on the risk score, over 180 continuations from checkpoints (benchmarks/results/true-risk.json). */
const collapseFit = { bias: -4.66, weight: 3.21 };
/** Highest score among those checkpoints. */
const highestMeasured = 1.42;

/** Returns the share of runs at a risk score that collapse within 40 iterations, for the app's weights and the starter. */
export const collapseRateOf = (risk: number): number =>
  1 / (1 + Math.exp(-collapseFit.bias - collapseFit.weight * Math.min(risk, highestMeasured)));

/** Returns the strengths of the signals with a weight. */
export const strengthsOf = (latches: readonly Latch[]): number[] => weighted.map((i) => latches[i]!.strength);

/** Returns whether the weights apply: they were fitted to runs with reasoning metrics. */
export const hasRisk = (latches: readonly Latch[]) =>
  weighted.some((i) => latches[i]!.reading !== null && detectors[i]!.family === 'reasoning');

/** Returns the contribution of each detector to the risk score. */
export function contributionsOf(latches: readonly Latch[], { weights }: Thresholds): number[] {
  const contributions = detectors.map(() => 0);
  if (!hasRisk(latches)) return contributions;
  for (const [i, { decisive }] of detectors.entries()) if (decisive && latches[i]!.on) contributions[i] = warnRisk;
  for (const [at, strength] of strengthsOf(latches).entries()) {
    const i = weighted[at]!;
    contributions[i] = strength * weights[detectors[i]!.name]!;
  }
  return contributions;
}

/** Returns the risk score without settings. */
export const observedRisk = (latches: readonly Latch[], thresholds: Thresholds): number =>
  contributionsOf(latches, thresholds).reduce(
    (sum, count, i) => sum + (detectors[i]!.stage === 'setting' ? 0 : count),
    0,
  );

/** Returns the risk score, or null if the weights do not apply. */
export const riskOf = (latches: readonly Latch[], thresholds: Thresholds): number | null =>
  hasRisk(latches) ? contributionsOf(latches, thresholds).reduce((sum, count) => sum + count, 0) : null;
