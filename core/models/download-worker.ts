import { parentPort, workerData } from 'node:worker_threads';
import { asFailure } from '../contract/failure.ts';
import { type DownloadPlan, download } from './download.ts';
import type { DownloadAnswer } from './download-thread.ts';

/** The thread that downloads a model and checks what comes: does what download-thread.ts asks for. */

const port = parentPort!;
const say = (answer: DownloadAnswer) => port.postMessage(answer);
const abort = new AbortController();
port.on('message', () => abort.abort());

/** Between two words on how far it is, in ms. */
const interval = 100;
let latest = 0;
let said = 0;
const sayLatest = () => {
  if (latest === said) return;
  said = latest;
  say({ done: latest });
};
const timer = setInterval(sayLatest, interval);

download(workerData as DownloadPlan, {
  signal: abort.signal,
  progress: (done) => {
    latest = done;
  },
})
  .finally(sayLatest)
  .then(
    () => say({ ended: null }),
    (error) => say({ ended: asFailure(error).toApiError() }),
  )
  .finally(() => {
    clearInterval(timer);
    port.close();
  });
