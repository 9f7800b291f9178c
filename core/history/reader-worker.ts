import { workerData } from 'node:worker_threads';
import { serveWorker } from '../base/worker-thread.ts';
import type { Input } from '../contract/contract.ts';
import { openReader } from './database.ts';
import { searchEpisodes } from './episode-text.ts';
import { readRewards } from './rewards.ts';
import { readRunLabel } from './run-label.ts';
import { readIterationTimes, readSeriesAt, type SeriesRange } from './series.ts';
import { readTimeline } from './timeline.ts';

/** The thread that does slow reads of the history. */

function createFunctions() {
  const { home } = workerData as { home: string };
  const database = openReader(home);
  return {
    series: ({ runId, range }: { runId: string; range: SeriesRange }) => readSeriesAt(database, runId, range),
    times: (runId: string) => readIterationTimes(database, runId),
    label: ({ runId, groups, groupSize }: { runId: string; groups: number; groupSize?: number | undefined }) =>
      readRunLabel(database, runId, groups, groupSize),
    rewards: (runId: string) => readRewards(database, runId),
    timeline: ({ runId, iteration }: Input<'runs.timeline'>) => readTimeline(database, home, runId, iteration),
    search: (query: Input<'episodes.search'>) => searchEpisodes(database, query),
  };
}

export type HistoryReaderFunctions = ReturnType<typeof createFunctions>;

serveWorker(createFunctions);
