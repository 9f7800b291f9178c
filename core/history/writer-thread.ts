import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { HistoryWriter, WriterData } from './writer.ts';
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
    ingest: (runId) => thread.call('ingest', runId),
    ingestAnnotations: (runId) => thread.call('ingestAnnotations', runId),
    trap: (runId) => thread.call('trap', runId),
    forkBaseline: (runId, iteration) => thread.call('forkBaseline', { runId, iteration }),
    indexEpisodes: () => thread.call('indexEpisodes'),
    rebuild: (options = {}) => thread.call('rebuild', null, options),
    close: () => thread.close(),
  };
}
