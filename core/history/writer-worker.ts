import { workerData } from 'node:worker_threads';
import { serveWorker } from '../base/worker-thread.ts';
import type { RebuildOptions } from './rebuild.ts';
import { createWriter, type WriterData } from './writer.ts';

/** The thread that writes the history. */

function createFunctions() {
  const writer = createWriter(workerData as WriterData);
  return {
    ...writer,
    forkBaseline: ({ runId, iteration }: { runId: string; iteration: number }) => writer.forkBaseline(runId, iteration),
    rebuild: (_: null, options: RebuildOptions) => writer.rebuild(options),
  };
}

export type HistoryWriterFunctions = ReturnType<typeof createFunctions>;

serveWorker(createFunctions);
