import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { ApiError } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { TaskControl } from './tasks.ts';

type Message = { progress: [done: number, total: number] } | { value: unknown } | { error: ApiError };

/** Runs one job in a worker thread, which has ended when this settles. Returns the result of {@link doJob}; rejects with the abort reason or the job's error. */
export async function inThread(
  script: string,
  job: object,
  { signal, progress }: TaskControl,
): Promise<unknown> {
  signal.throwIfAborted();
  const worker = new Worker(script, { workerData: job });
  const abort = () => void worker.terminate();
  signal.addEventListener('abort', abort);
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', (message: Message) => {
        if ('progress' in message) progress(...message.progress);
        else if ('value' in message) resolve(message.value);
        else reject(new Failure(message.error.code, message.error.message, message.error.hint));
      });
      worker.on('error', reject);
      worker.on('exit', () => reject(signal.reason ?? new Error('the thread ended before its work')));
    });
  } finally {
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

/** Worker side: runs the job and posts its result. */
export async function doJob<Job>(
  work: (job: Job, progress: (done: number, total: number) => void) => unknown,
): Promise<void> {
  const post = (message: Message) => parentPort!.postMessage(message);
  try {
    post({ value: await work(workerData as Job, (...progress) => post({ progress })) });
  } catch (error) {
    post({ error: asFailure(error).toApiError() });
  }
}
