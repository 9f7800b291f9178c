import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointPath, namesIn, pinFile, runFiles, trainerState, wholeWeights } from './names.ts';

/** Checkpoints in a run directory (docs/formats/checkpoint.md). */

/** Returns the iterations of checkpoints with weights, oldest first. */
export function checkpointsOf(folder: string): number[] {
  return namesIn(join(folder, runFiles.checkpoints), /^\d{6,7}$/)
    .map(Number)
    .filter((iteration) => existsSync(join(folder, checkpointPath(iteration), wholeWeights)))
    .sort((a, b) => a - b);
}

/** Returns whether a checkpoint has the optimizer state for a bit-exact resume. */
export const hasOptimizer = (folder: string, iteration: number): boolean =>
  existsSync(join(folder, checkpointPath(iteration), trainerState));

export const isPinned = (folder: string, iteration: number): boolean =>
  existsSync(join(folder, checkpointPath(iteration), pinFile));
