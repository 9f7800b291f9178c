import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../contract/failure.ts';
import { checkpointPath, namesIn, pinFile, runFiles, trainerState, wholeWeights } from './names.ts';

/** Checkpoints in a run directory (docs/formats/checkpoint.md). */

const checkpointName = /^\d{6,7}$/;

/** Returns the run directory and iteration of a checkpoint's folder, which may be missing; null for other folders. */
export function checkpointAt(path: string): { folder: string; iteration: number } | null {
  const [name, parent] = [basename(path), dirname(path)];
  if (!checkpointName.test(name) || basename(parent) !== runFiles.checkpoints) return null;
  return { folder: dirname(parent), iteration: Number(name) };
}

/** Returns the iterations of checkpoints with weights, oldest first. */
export function checkpointsOf(folder: string): number[] {
  return namesIn(join(folder, runFiles.checkpoints), checkpointName)
    .map(Number)
    .filter((iteration) => existsSync(join(folder, checkpointPath(iteration), wholeWeights)))
    .sort((a, b) => a - b);
}

/** Returns the iteration of the newest checkpoint with weights. Throws `checkpoint_missing`. */
export function newestCheckpoint(folder: string): number {
  const newest = checkpointsOf(folder).at(-1);
  if (newest === undefined) throw checkpointMissing(basename(folder), null, []);
  return newest;
}

/** Throws `checkpoint_missing` unless the run has a checkpoint with weights at the iteration. */
export function requireCheckpoint(folder: string, iteration: number): void {
  const all = checkpointsOf(folder);
  if (!all.includes(iteration)) throw checkpointMissing(basename(folder), iteration, all);
}

/** Limit on the checkpoints that a hint lists. */
const listed = 8;

/** Returns the error about a missing checkpoint of a run. `iteration` is null if it has none. `all`: its checkpoints, oldest first. */
export function checkpointMissing(runId: string, iteration: number | null, all: readonly number[]): Failure {
  return new Failure(
    'checkpoint_missing',
    `Run ${runId} has no checkpoint${iteration === null ? '' : ` at iteration ${iteration}`}.`,
    all.length > 0
      ? `Choose another. Its newest checkpoints: ${all.slice(-listed).toReversed().join(', ')}.`
      : 'A run saves its first checkpoint after the initial evaluation. If it was deleted, start a new run.',
  );
}

/** Returns whether a checkpoint has the optimizer state for a bit-exact resume. */
export const hasOptimizer = (folder: string, iteration: number): boolean =>
  existsSync(join(folder, checkpointPath(iteration), trainerState));

export const isPinned = (folder: string, iteration: number): boolean =>
  existsSync(join(folder, checkpointPath(iteration), pinFile));
