import { serveWorker } from '../base/worker-thread.ts';
import { type DownloadControl, type DownloadPlan, download } from './download.ts';

/** The thread that downloads a model and verifies its digests. */

/** Time between two progress messages in ms. */
const interval = 100;

const functions = {
  async download(plan: DownloadPlan, { signal, progress }: DownloadControl): Promise<void> {
    let done = 0;
    let reported = 0;
    // Not while a partial file is hashed, which would look like a slow download.
    const report = () => {
      if (done !== reported) progress(done);
      reported = done;
    };
    const timer = setInterval(report, interval);
    try {
      await download(plan, {
        signal,
        progress: (bytes) => {
          done = bytes;
        },
      });
    } finally {
      clearInterval(timer);
      report();
    }
  },
};

export type DownloadFunctions = typeof functions;

serveWorker(() => functions);
