import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ApiError } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import type { DownloadPlan } from './download.ts';

/** Progress in bytes, or the result: null, or an error. */
export type DownloadAnswer = { done: number } | { ended: ApiError | null };

/** Next to this file in a checkout, and next to the bundle in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'download-worker.ts' : 'download-worker.cjs',
);

/** Downloads in a thread, which also hashes the data. Throws as `download` does. Partial files are kept on abort. */
export function downloadInThread(
  plan: DownloadPlan,
  signal: AbortSignal,
  progress: (done: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(script, { workerData: plan });
    const abort = () => worker.postMessage('abort');
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    let ended: ApiError | null | undefined;
    worker.on('message', (answer: DownloadAnswer) => {
      if ('done' in answer) progress(answer.done);
      else ended = answer.ended;
    });
    worker.on('error', reject);
    worker.once('exit', () => {
      signal.removeEventListener('abort', abort);
      if (ended === null) resolve();
      else if (signal.aborted) reject(signal.reason);
      else if (ended) reject(new Failure(ended.code, ended.message, ended.hint));
      else reject(new Failure('download_failed', 'The download ended unexpectedly.', 'Resume it.'));
    });
  });
}
