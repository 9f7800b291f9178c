import type { RunSummary } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { hasOptimizer, newestCheckpoint } from '../run-directory/checkpoints.ts';
import { runFolder } from '../run-directory/names.ts';
import type { NewRun } from './create-run.ts';

/**
 * Returns the fork that extends a completed run from its last checkpoint, since run.json never changes. With the checkpoint's optimizer
 * state, a constant learning rate and no replay, it is bit-identical to a longer run on a CPU. Throws `run_not_completed` or `checkpoint_missing`.
 */
export function extensionOf(home: string, run: RunSummary, iterations: number): NewRun & { keepOptimizer: boolean } {
  if (run.status !== 'completed')
    throw new Failure(
      'run_not_completed',
      `${run.name} has not completed.`,
      'Wait until it has completed. If it is not running, resume it first.',
    );
  const folder = runFolder(home, run.id);
  const checkpoint = newestCheckpoint(folder);
  const keepOptimizer = hasOptimizer(folder, checkpoint);
  return { run: run.id, checkpoint, keepOptimizer, set: { iterations: run.iterations + iterations } };
}
