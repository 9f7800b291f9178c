import type { Client } from '../contract/client.ts';
import type { Task } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { durationText } from './output.ts';
import { ProgressLine } from './progress-line.ts';
import { nextSignal } from './signals.ts';

export interface Wanted {
  /** Aborted with `task_cancelled` by Ctrl-C or a request to end. */
  signal: AbortSignal;
  /** Says how far the work is, where a person looks on; of a `total` of 0 nothing is known. */
  progress(done: number, total: number, etaSeconds?: number | null): void;
}

/** Does a command's long work, which a first Ctrl-C gives up: it leaves nothing half done. A second ends the process at once. */
export async function whileWanted<T>(title: string, work: (wanted: Wanted) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const line = new ProgressLine(process.stderr);
  const signals = nextSignal();
  void signals.signal.then(() => {
    line.erase();
    abort.abort(new Failure('task_cancelled', `${title} was given up.`, 'Ask for it again.'));
  });
  const progress: Wanted['progress'] = (done, total, etaSeconds = null) => {
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

/** Waits for something no longer than it is wanted; what is waited for goes on. */
export function unlessGivenUp<T>(signal: AbortSignal | undefined, waited: Promise<T>): Promise<T> {
  if (!signal) return waited;
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener('abort', give);
    const done = () => signal.removeEventListener('abort', give);
    waited.finally(done).then(resolve, reject);
  });
}

/** Asks core for what it does as a task: passes on how far that is, and gives it up with the command. Throws what `ask` does. */
export async function asTask<T>(
  client: Client,
  { kind, runId }: Pick<Task, 'kind' | 'runId'>,
  { signal, progress }: Wanted,
  ask: () => Promise<T>,
): Promise<T> {
  let taskId: string | undefined;
  const cancel = () => {
    if (signal.aborted && taskId !== undefined) void client.call('tasks.cancel', { taskId }).catch(() => {});
  };
  // Those of others stay theirs.
  const others = new Set((await client.call('tasks.list', {})).map(({ id }) => id));
  const stop = client.on('task', (task) => {
    if (task.kind !== kind || task.runId !== runId || others.has(task.id)) return;
    if (taskId === undefined) {
      taskId = task.id;
      cancel();
    }
    if (taskId === task.id && task.state === 'running') progress(task.done, task.total, task.etaSeconds);
  });
  signal.addEventListener('abort', cancel);
  try {
    signal.throwIfAborted();
    return await ask();
  } finally {
    signal.removeEventListener('abort', cancel);
    stop();
  }
}
