import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointPath, pinFile, runFiles, trainerState, wholeWeights } from './names.ts';

/** The checkpoints in a run directory, as docs/formats/checkpoint.md describes them. */

/** Iterations of those that have their weights, oldest first. */
export function checkpointsOf(folder: string): number[] {
  return namesIn(join(folder, runFiles.checkpoints))
    .filter((name) => /^\d{6,7}$/.test(name))
    .map(Number)
    .filter((iteration) => existsSync(join(folder, checkpointPath(iteration), wholeWeights)))
    .sort((a, b) => a - b);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether it has what a run needs to go on from it as if it had never stopped. */
export const hasOptimizer = (folder: string, iteration: number): boolean =>
  existsSync(join(folder, checkpointPath(iteration), trainerState));

export const isPinned = (folder: string, iteration: number): boolean =>
  existsSync(join(folder, checkpointPath(iteration), pinFile));
