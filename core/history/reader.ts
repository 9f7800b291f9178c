import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { HistoryReaderFunctions } from './reader-worker.ts';

/** Does slow reads of the history in a separate thread. */
export class HistoryReader extends WorkerThread<HistoryReaderFunctions> {
  constructor(home: string) {
    const script = workerScript(import.meta.filename, 'reader-worker');
    super({ script, code: 'reader_interrupted', purpose: 'reads the history', data: { home } });
  }
}
