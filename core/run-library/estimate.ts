import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunConfig } from '../run-config/schema.ts';
import type { RunSizes } from '../run-directory/measure.ts';

/** Compressed bytes in a rollout file per sampled token, and per episode besides its tokens. Measured on runs of the starter policy. */
const bytesPerToken = 16;
const bytesPerEpisode = 800;

/**
 * Estimates the final bytes of a run directory, to check whether the disk is large enough: all checkpoints, optimizer states, one checkpoint being
 * written, and the kept episodes. Uses the sizes of existing files.
 */
export async function estimateRun(
  config: RunConfig,
  sizes: Pick<RunSizes, 'rollouts' | 'rolloutFiles'>,
): Promise<number> {
  const weights = await weightBytes(config.start.model);
  const { every, keep } = config.checkpoint;
  const checkpoints = 2 + (every > 0 ? Math.floor(config.iterations / every) : 0);
  // Adam's two moments in the precision of the weights. A full critic adds its own weights and moments.
  const trainerState = (config.critic.model === 'full' ? 5 : 2) * weights;
  const withOptimizer = Math.min(keep + 1, checkpoints + 1);
  const checkpointBytes = (checkpoints + 1) * weights + withOptimizer * trainerState;
  const files = rolloutFiles(config);
  const perFile = sizes.rolloutFiles > 0 ? sizes.rollouts / sizes.rolloutFiles : null;
  return (
    checkpointBytes +
    files.train * (perFile ?? episodesBytes(config, config.rollout.groups * config.rollout.group_size)) +
    files.evaluation * (perFile ?? episodesBytes(config, config.evaluation.levels))
  );
}

/** Returns how many rollout files will be kept. */
function rolloutFiles({ task, iterations, rollout_files, evaluation, environments }: RunConfig) {
  const { keep_last, keep_every } = rollout_files;
  const newest = keep_last === 0 ? iterations : Math.min(keep_last, iterations);
  const older = keep_every > 0 ? Math.floor((iterations - newest) / keep_every) : 0;
  const evaluations = 2 + (evaluation.every > 0 ? Math.floor(iterations / evaluation.every) : 0);
  return {
    train: task === 'reinforce' ? newest + older : 0,
    evaluation: evaluations * environments.filter((each) => each.validate).length,
  };
}

/**
 * Assumes half of the maximum turns, with responses of half the maximum length, because most end earlier. Without `context_turns`, all of them fit
 * one context.
 */
function episodesBytes({ environments, rollout }: RunConfig, episodes: number): number {
  const turns = Math.max(...environments.map((each) => each.max_turns));
  const limit = rollout.context_turns > 0 ? Infinity : rollout.context;
  const tokens = Math.min(limit, (turns * rollout.max_response_tokens) / 4);
  return episodes * (bytesPerEpisode + tokens * bytesPerToken);
}

/** Returns the bytes of a model's weights in fp32, as in checkpoints; 0 if the folder does not show it. */
async function weightBytes(folder: string): Promise<number> {
  try {
    const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'));
    const index = join(folder, 'model.safetensors.index.json');
    const bytes = await stat(join(folder, 'model.safetensors')).then(
      ({ size }) => size,
      async () => JSON.parse(await readFile(index, 'utf8')).metadata.total_size as number,
    );
    const half = ['bfloat16', 'float16'].includes(config.torch_dtype ?? config.dtype);
    return half ? 2 * bytes : bytes;
  } catch {
    return 0;
  }
}
