import { parentPort, workerData } from 'node:worker_threads';
import { answerAll } from '../asked-thread.ts';
import { openReader } from './database.ts';
import { readIterationTimes, readSeriesAt } from './series.ts';
import type { SeriesQuestion } from './series-reader.ts';

/** The thread that reads series of the history: does what series-reader.ts asks for. */

const database = openReader((workerData as { home: string }).home);

answerAll(parentPort!, (ask: SeriesQuestion) =>
  ask.name === 'times'
    ? readIterationTimes(database, ask.runId)
    : readSeriesAt(database, ask.runId, ask.range),
);
