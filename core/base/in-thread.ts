import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { ApiError } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { TaskControl } from './tasks.ts';

type Message = { progress: [done: number, total: number] } | { value: unknown } | { error: ApiError };

/** Does a job in a thread of its own, which has ended when this settles. Gives what {@link doJob} sends; throws what the signal was aborted with, or why the job failed. */
export async function inThread(
  script: string,
  job: object,
  { signal, progress }: TaskControl,
): Promise<unknown> {
  signal.throwIfAborted();
  const worker = new Worker(script, { workerData: job });
  const give = () => void worker.terminate();
  signal.addEventListener('abort', give);
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
    signal.removeEventListener('abort', give);
    await worker.terminate();
  }
}

/** The thread's own side: does its one job. */
export async function doJob<Job>(
  work: (job: Job, progress: (done: number, total: number) => void) => unknown,
): Promise<void> {
  const say = (message: Message) => parentPort!.postMessage(message);
  try {
    say({ value: await work(workerData as Job, (...told) => say({ progress: told })) });
  } catch (error) {
    say({ error: asFailure(error).toApiError() });
  }
}
