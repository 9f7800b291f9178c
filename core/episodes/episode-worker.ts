import { serveWorker } from '../base/worker-thread.ts';
import type { RolloutPaths } from '../run-directory/rollouts.ts';
import { readBoards } from './boards.ts';
import { readTokens } from './tokens.ts';

/** The thread that reads whole rollout files and vocabularies. */

interface Rollout {
  folder: string;
  paths: RolloutPaths;
}

const functions = {
  boards: ({ folder, paths, group }: Rollout & { group?: number | undefined }) => readBoards(folder, paths, group),
  tokens: ({ folder, paths, episodeId }: Rollout & { episodeId: string }) => readTokens(folder, paths, episodeId),
};

export type EpisodeReaderFunctions = typeof functions;

serveWorker(() => functions);
