import { parentPort } from 'node:worker_threads';
import { asFailure } from '../contract/failure.ts';
import { readBoards } from './boards.ts';
import type { ReaderAnswer, ReaderRequest } from './reader.ts';
import { readTokens } from './tokens.ts';

/** The thread that reads whole rollout files and vocabularies: does what reader.ts asks for. */

const port = parentPort!;

port.on('message', async ({ id, ask }: ReaderRequest) => {
  let answer: ReaderAnswer;
  try {
    const { folder, paths } = ask;
    const value =
      ask.name === 'boards'
        ? await readBoards(folder, paths, ask.group)
        : await readTokens(folder, paths, ask.episodeId);
    answer = { id, value };
  } catch (error) {
    answer = { id, error: asFailure(error).toApiError() };
  }
  port.postMessage(answer);
});
