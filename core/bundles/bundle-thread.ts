import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '../contract/failure.ts';
import type { TaskControl } from '../tasks.ts';
import type { BundleJob, BundleMessage } from './worker.ts';

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'worker.ts' : 'bundle-worker.cjs',
);

/** Does a job in a thread of its own, which ends with it. Throws what the signal was aborted with, or why it failed. */
export async function inBundleThread(job: BundleJob, { signal, progress }: TaskControl): Promise<unknown> {
  signal.throwIfAborted();
  const worker = new Worker(script, { workerData: job });
  const give = () => void worker.terminate();
  signal.addEventListener('abort', give);
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', (message: BundleMessage) => {
        if ('progress' in message) progress(...message.progress);
        else if ('value' in message) resolve(message.value);
        else reject(new Failure(message.error.code, message.error.message, message.error.hint));
      });
      worker.on('error', reject);
      worker.on('exit', () => reject(signal.reason ?? new Error('the thread ended before its work')));
    });
  } finally {
    signal.removeEventListener('abort', give);
    await worker.terminate();
  }
}
