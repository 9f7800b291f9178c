import { randomUUID } from 'node:crypto';
import type { Client } from '../contract/client.ts';
import { Failure } from '../contract/failure.ts';
import { durationText } from './output.ts';
import { ProgressLine } from './progress-line.ts';
import { nextSignal } from './signals.ts';

export interface TaskContext {
  /** Aborted with `task_canceled` by Ctrl+C or a request to end. */
  signal: AbortSignal;
  /** Shows progress on a terminal. A `total` of 0 means unknown. */
  progress(done: number, total: number, etaSeconds?: number | null): void;
}

/** Runs a long task of a command. The first Ctrl+C cancels it cleanly; the second ends the process. */
export async function cancelable<T>(title: string, work: (context: TaskContext) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const line = new ProgressLine(process.stderr);
  const signals = nextSignal();
  void signals.signal.then(() => {
    line.erase();
    abort.abort(new Failure('task_canceled', `${title} was canceled.`, 'Run the command again.'));
  });
  const progress: TaskContext['progress'] = (done, total, etaSeconds = null) => {
    if (!abort.signal.aborted) line.showText(taskText(title, done, total, etaSeconds));
  };
  try {
    return await work({ signal: abort.signal, progress });
  } finally {
    line.erase();
    signals.close();
  }
}

/** `Packing the run  45 %  about 2 min left` */
export function taskText(title: string, done: number, total: number, etaSeconds: number | null): string {
  return [
    title,
    ...(total > 0 ? [`${Math.floor((100 * done) / total)} %`] : []),
    ...(etaSeconds === null ? [] : [`about ${durationText(etaSeconds)} left`]),
  ].join('  ');
}

/** Rejects when `signal` aborts; the underlying work is not canceled. */
export function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    const done = () => signal.removeEventListener('abort', abort);
    work.finally(done).then(resolve, reject);
  });
}

/** Makes a call that the host runs as a task with the given id: reports its progress, and cancels it when `signal` aborts. */
export async function asTask<T>(
  client: Client,
  { signal, progress }: TaskContext,
  request: (taskId: string) => Promise<T>,
): Promise<T> {
  const taskId = randomUUID();
  const cancel = () => void client.call('tasks.cancel', { taskId }).catch(() => {});
  const stop = client.on('task', (task) => {
    if (task.id !== taskId || task.state !== 'running') return;
    // A task that started after the cancellation.
    if (signal.aborted) cancel();
    progress(task.done, task.total, task.etaSeconds);
  });
  signal.addEventListener('abort', cancel);
  try {
    signal.throwIfAborted();
    return await request(taskId);
  } finally {
    signal.removeEventListener('abort', cancel);
    stop();
  }
}
