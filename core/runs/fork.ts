import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunSource } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { firstIteration } from '../run-config/start.ts';
import { requireCheckpoint } from '../run-directory/checkpoints.ts';
import { checkpointPath, runFolder, trainerState, wholeWeights } from '../run-directory/names.ts';

type Checkpoint = Extract<RunSource, { keepOptimizer: boolean }>;

/**
 * Returns the configuration of a fork: its parent's settings, and its parent's reference if it has a KL term.
 * Throws `checkpoint_missing` or `start_state_missing`.
 */
export function forkConfig(
  home: string,
  parent: RunConfig,
  { run: runId, checkpoint, keepOptimizer }: Checkpoint,
): RunConfig {
  const folder = runFolder(home, runId);
  const model = join(folder, checkpointPath(checkpoint));
  requireCheckpoint(folder, checkpoint);
  if (keepOptimizer && !existsSync(join(model, trainerState)))
    throw new Failure(
      'start_state_missing',
      `Checkpoint ${checkpoint} of ${runId} has no optimizer state.`,
      'Start with a new optimizer (without --keep-optimizer) or from a newer checkpoint. checkpoint.keep limits how many keep their state; pinned ones always keep it.',
    );
  return {
    ...parent,
    start: { model, weights: 'load', sha256: '', run: runId, checkpoint, keep_optimizer: keepOptimizer },
    parent: { run: runId, iteration: checkpoint },
    kl: { ...parent.kl, reference: referenceOf(folder, parent) },
  };
}

/** Returns the reference model of the parent's KL term: the configured folder, or the checkpoint that the parent started from. */
function referenceOf(folder: string, config: RunConfig): string {
  const { kl, start } = config;
  if (kl.reference !== '' || kl.coefficient === 0) return kl.reference;
  const first = join(folder, checkpointPath(firstIteration(config)));
  return existsSync(join(first, wholeWeights)) ? first : start.model;
}
