import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { EpisodeReaderFunctions } from './episode-worker.ts';

/** Does slow reads of rollout files in a separate thread. */
export class EpisodeReader extends WorkerThread<EpisodeReaderFunctions> {
  constructor() {
    const script = workerScript(import.meta.filename, 'episode-worker');
    super({ script, code: 'reader_interrupted', purpose: 'reads episodes' });
  }
}
