import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../base/folders.ts';
import type { TaskControl } from '../base/tasks.ts';
import { type WatchedEpisodes, watchedEpisodes } from '../contract/contract.ts';
import { ignoring } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { linkOrCopy } from '../run-directory/copy-file.ts';
import type { Episode } from '../run-directory/episode.ts';
import { evaluationResult, readResult } from '../run-directory/evaluations.ts';
import { checkpointPath, runFiles, trainerState } from '../run-directory/names.ts';
import { readEpisode, readEpisodes } from '../run-directory/rollouts.ts';
import type { Trainer } from '../trainer/trainer.ts';

/** Number of episodes that a policy plays. */
const levels = 10;
/** Name of the evaluation in its folder. */
const name = 'watched';
/** The checkpoint in its folder, whatever its iteration in the run was. */
const checkpoint = 0;
const policyFile = 'policy.json';

export interface Watching {
  folder: string;
  /** Folder of the policy's weights and tokenizer. */
  model: string;
  /** A run configuration with the environment to play. */
  config: RunConfig;
  policy: WatchedEpisodes['policy'];
}

/**
 * Lets a policy play the environment's first validation levels. The trainer evaluates a run folder that exists only for this purpose, so that the
 * starter policy and a checkpoint of any run are played the same way. Replaces the folder.
 */
export async function watchEpisodes(
  trainer: Trainer,
  { folder, model, config, policy }: Watching,
  { signal, progress }: TaskControl,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const weights = join(folder, checkpointPath(checkpoint));
  makeFolder(weights);
  await writeFile(join(folder, runFiles.config), JSON.stringify(config));
  await writeFile(join(folder, policyFile), JSON.stringify(policy));
  for (const file of await readdir(model))
    if (file !== trainerState) await linkOrCopy(join(model, file), join(weights, file)).catch(ignoreDirectory);
  // The trainer plays only checkpoints of the run in the folder.
  const state = join(weights, 'trainer-state.json');
  await rm(state, { force: true });
  await writeFile(state, JSON.stringify({ iteration: checkpoint, seed: config.seed }));
  const process = trainer.evaluate(folder, { checkpoint, levels, name }, ({ done, total, eta_seconds }) =>
    progress(done, total, eta_seconds),
  );
  signal.addEventListener('abort', process.cancel);
  if (signal.aborted) process.cancel();
  evaluationResult.parse(await process.ended);
  await rm(weights, { recursive: true, force: true });
}

/** Ignores directories, such as caches of a download. */
function ignoreDirectory(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EISDIR' && error.code !== 'ENOTSUP') throw error;
}

/** Returns the episodes of the last watch in a folder; null if there are none. */
export async function readWatched(folder: string): Promise<WatchedEpisodes | null> {
  const result = await readResult(folder, name).catch(ignoring('evaluation_unknown'));
  if (!result) return null;
  const { time, temperature, warnings } = result;
  const policy = watchedEpisodes.shape.policy.parse(JSON.parse(await readFile(join(folder, policyFile), 'utf8')));
  return { time, policy, temperature, episodes: await readEpisodes(folder, result), warnings: warnings.map(sentence) };
}

/** Reads one of these episodes. Throws `evaluation_unknown` or `episode_unknown`. */
export const readWatchedEpisode = async (folder: string, episodeId: string): Promise<Episode> =>
  readEpisode(folder, await readResult(folder, name), episodeId);
