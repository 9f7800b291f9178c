import { serveWorker } from '../base/worker-thread.ts';
import { type DownloadControl, type DownloadPlan, download } from './download.ts';

/** The thread that downloads a model and verifies its digests. */

/** Time between two progress messages in ms. */
const interval = 100;

const functions = {
  async download(plan: DownloadPlan, { signal, progress }: DownloadControl): Promise<void> {
    let done = 0;
    const timer = setInterval(() => progress(done), interval);
    try {
      await download(plan, {
        signal,
        progress: (bytes) => {
          done = bytes;
        },
      });
    } finally {
      clearInterval(timer);
      progress(done);
    }
  },
};

export type DownloadFunctions = typeof functions;

serveWorker(() => functions);
