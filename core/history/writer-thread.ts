import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { HistoryWriter, Ingested, WriterData } from './writer.ts';
import type { HistoryWriterFunctions } from './writer-worker.ts';

/**
 * Starts a thread that writes the history, so that long journals do not block this process. If the thread crashes, the next survey finds the
 * missing events. Throws as `openDatabase` does.
 */
export async function startWriterThread(data: WriterData): Promise<HistoryWriter> {
  const script = workerScript(import.meta.filename, 'writer-worker');
  const thread = new WorkerThread<HistoryWriterFunctions>({
    ...{ script, code: 'history_interrupted', purpose: 'writes the history', data },
  });
  try {
    await thread.start();
  } catch (error) {
    await thread.close();
    throw error;
  }
  return {
    survey: () => thread.call('survey'),
    ingest: batched(
      (runId) => thread.call('ingest', runId),
      (runIds) => thread.call('ingestTogether', runIds),
    ),
    ingestAnnotations: (runId) => thread.call('ingestAnnotations', runId),
    trap: (runId) => thread.call('trap', runId),
    forkBaseline: (runId, iteration) => thread.call('forkBaseline', { runId, iteration }),
    indexEpisodes: () => thread.call('indexEpisodes'),
    rebuild: (options = {}) => thread.call('rebuild', null, options),
    close: () => thread.close(),
  };
}

/** Returns a function that combines calls in quick succession. If the combined call fails, it repeats each alone, so that an error affects only its run. */
function batched(
  one: (runId: string) => Promise<Ingested>,
  several: (runIds: string[]) => Promise<Ingested[]>,
): (runId: string) => Promise<Ingested> {
  let waiting: { runId: string; settle: (result: Promise<Ingested>) => void }[] = [];
  const send = async (calls: typeof waiting) => {
    const runIds = calls.map(({ runId }) => runId);
    const results = runIds.length > 1 ? await several(runIds).catch(() => null) : null;
    for (const [index, { runId, settle }] of calls.entries())
      settle(results ? Promise.resolve(results[index]!) : one(runId));
  };
  return (runId) =>
    new Promise((settle) => {
      if (waiting.push({ runId, settle }) > 1) return;
      setImmediate(() => {
        const calls = waiting;
        waiting = [];
        void send(calls);
      });
    });
}
