import type { HumanSuccess } from '../contract/contract.ts';
import { readAnnotations } from '../run-directory/annotations.ts';

/** Minimum number of levels for saving a user's success rate. */
export const minLevels = 10;

/** Returns the newest success rate per environment from a run's annotations. Empty if they cannot be read. */
export function readHumanSuccess(folder: string): HumanSuccess[] {
  const newest = new Map<string, HumanSuccess>();
  for (const annotation of annotationsOf(folder)) {
    if (annotation.type !== 'human_success') continue;
    const { environment, levels, successes } = annotation;
    newest.set(environment, { environment, levels, successes });
  }
  return [...newest.values()];
}

function annotationsOf(folder: string) {
  try {
    return readAnnotations(folder).annotations;
  } catch {
    return [];
  }
}
