import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointPath, runFiles } from '../run-directory/names.ts';
import { wholeWeights } from './model-digest.ts';

/** Iterations of the checkpoints in a run directory that have their weights, oldest first. */
export function checkpointsOf(folder: string): number[] {
  const checkpoints = join(folder, runFiles.checkpoints);
  if (!existsSync(checkpoints)) return [];
  return readdirSync(checkpoints)
    .filter((name) => /^\d{6,7}$/.test(name))
    .map(Number)
    .filter((iteration) => existsSync(join(folder, checkpointPath(iteration), wholeWeights)))
    .sort((a, b) => a - b);
}
