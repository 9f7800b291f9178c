import { parentPort } from 'node:worker_threads';
import { answerAll } from '../base/asked-thread.ts';
import { readBoards } from './boards.ts';
import type { EpisodesQuestion } from './reader.ts';
import { readTokens } from './tokens.ts';

/** The thread that reads whole rollout files and vocabularies: does what reader.ts asks for. */

answerAll(parentPort!, async (ask: EpisodesQuestion) => {
  const { folder, paths } = ask;
  return ask.name === 'boards'
    ? await readBoards(folder, paths, ask.group)
    : await readTokens(folder, paths, ask.episodeId);
});
