import { parentPort, workerData } from 'node:worker_threads';
import { answerAll } from '../base/asked-thread.ts';
import { openReader } from './database.ts';
import { searchEpisodes } from './episode-text.ts';
import type { HistoryQuestion } from './reader.ts';
import { readRunLabel } from './run-label.ts';
import { readIterationTimes, readSeriesAt } from './series.ts';

/** The thread that reads the history: does what reader.ts asks for. */

const database = openReader((workerData as { home: string }).home);

answerAll(parentPort!, (ask: HistoryQuestion) => {
  switch (ask.name) {
    case 'series':
      return readSeriesAt(database, ask.runId, ask.range);
    case 'times':
      return readIterationTimes(database, ask.runId);
    case 'label':
      return readRunLabel(database, ask.runId, ask.groups, ask.groupSize);
    case 'search':
      return searchEpisodes(database, ask.wanted);
  }
});
