import type { EpisodeFileName } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { findRollout } from '../history/queries.ts';
import type { Core } from '../index.ts';
import { parseEpisodeId } from '../run-directory/names.ts';
import { type RolloutPaths, unknownEpisode } from '../run-directory/rollouts.ts';

/**
 * Reads episodes of one iteration. Throws `rollout_unknown`, or `rollout_gone` if the run has deleted them, even during the read: the journal
 * records a deletion before the files are removed.
 */
export async function readFromRollout<T>(
  core: Core,
  runId: string,
  iteration: number,
  split: string,
  read: (folder: string, paths: RolloutPaths) => Promise<T>,
): Promise<T> {
  const paths = rolloutPaths(core, runId, iteration, split);
  try {
    return await read(core.runs.folder(runId), paths);
  } catch (error) {
    if (asFailure(error).code !== 'rollout_missing') throw error;
    await core.supervisor.refresh(runId);
    rolloutPaths(core, runId, iteration, split);
    throw error;
  }
}

/** Reads episodes of an iteration or of an evaluation on request. */
export async function readFromFile<T>(
  core: Core,
  runId: string,
  { iteration, split, evaluation }: EpisodeFileName,
  read: (folder: string, paths: RolloutPaths) => Promise<T>,
): Promise<T> {
  if (evaluation === null) return readFromRollout(core, runId, iteration, split, read);
  return read(core.runs.folder(runId), await core.evaluations.paths(runId, evaluation));
}

/** Reads the episode from the file named by its id. Also throws `episode_unknown`. */
export async function readFromEpisode<T>(
  core: Core,
  runId: string,
  evaluation: string | null,
  episodeId: string,
  read: (folder: string, paths: RolloutPaths) => Promise<T>,
): Promise<T> {
  const parts = parseEpisodeId(episodeId);
  if (!parts) throw unknownEpisode(episodeId);
  return readFromFile(core, runId, { ...parts, evaluation }, read);
}

function rolloutPaths(core: Core, runId: string, iteration: number, split: string): RolloutPaths {
  core.runs.require(runId);
  const paths = findRollout(core.database, runId, iteration, split);
  if (!paths)
    throw new Failure(
      'rollout_unknown',
      `Run ${runId} has no ${split} episodes at iteration ${iteration}.`,
      'Choose an iteration from the list of rollouts.',
    );
  if (paths.removed)
    throw new Failure(
      'rollout_gone',
      `The ${split} episodes at iteration ${iteration} were deleted by rollout_files or by Free disk space.`,
      'Choose another iteration. Evaluations are always kept.',
    );
  return paths;
}
