import { dependsOnWeights, isInEveryUpdate } from './metric-names.ts';

/** Bits for the values of a metric at a step. */
export const [finite, notFinite] = [1, 2];

export const isEvaluation = (name: string) => name.startsWith('evaluation/');

/** Minimum number of trailing steps without a finite value. Exports may end with rows, such as a last evaluation, that have NaN for update metrics. */
const minMissing = 3;

/**
 * Returns the index of the step from which a metric that depends on the weights is NaN or infinite until the end, or null. Exports also write NaN
 * if a metric was not logged. Therefore the gap at the end must be longer than all gaps before and than a few steps. `hidden` marks the steps in
 * which a metric without a value may be NaN, because the table can't express NaN; such a metric must have had values before.
 */
export function findBreak(
  name: string,
  states: Uint8Array,
  hidden: Uint8Array | null,
): { from: number; isExplicit: boolean } | null {
  if (!dependsOnWeights.test(name)) return null;
  let [missing, longest, wasFinite, isExplicit] = [0, 0, false, false];
  let from: number | null = null;
  for (const [index, state] of states.entries()) {
    if (state & finite) {
      longest = Math.max(longest, missing);
      [missing, wasFinite, isExplicit, from] = [0, true, false, null];
      continue;
    }
    missing += 1;
    if (state & notFinite) isExplicit = true;
    else if (!hidden?.[index]) continue;
    from ??= index;
  }
  const isBroken =
    missing >= minMissing && missing > longest && (wasFinite || (isExplicit && isInEveryUpdate.test(name)));
  return isBroken && from !== null ? { from, isExplicit } : null;
}
