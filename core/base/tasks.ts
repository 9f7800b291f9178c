import { randomUUID } from 'node:crypto';
import type { Task } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { Notices } from './notices.ts';

/** Least time between two notices of a task's progress, in ms. */
const interval = 250;

export type NewTask = Pick<Task, 'kind' | 'runId' | 'title' | 'cancellable'>;

/** What the work itself gets. */
export interface TaskControl {
  /** Aborted with `task_cancelled` where the task is given up. */
  signal: AbortSignal;
  progress(done: number, total: number, etaSeconds?: number | null): void;
}

interface Running {
  task: Task;
  abort: AbortController;
  ended: Promise<unknown>;
}

/** Long work of this process, whatever it is: it is listed, told of and given up in one way. */
export class Tasks {
  private readonly notices: Notices;
  private readonly running = new Map<string, Running>();

  constructor(notices: Notices) {
    this.notices = notices;
  }

  /** Under way, oldest first. */
  list(): Task[] {
    return [...this.running.values()].map(({ task }) => ({ ...task }));
  }

  /** Does some work as a task and gives its result, or throws what it does. */
  run<T>(wanted: NewTask, work: (control: TaskControl) => Promise<T>): Promise<T> {
    const task: Task = {
      id: randomUUID(),
      ...wanted,
      state: 'running',
      done: 0,
      total: 0,
      etaSeconds: null,
      startedAt: Date.now(),
      failure: null,
    };
    const abort = new AbortController();
    let toldAt = 0;
    let soon: NodeJS.Timeout | undefined;
    const tell = () => {
      clearTimeout(soon);
      soon = undefined;
      toldAt = Date.now();
      this.notices.emit('task', { ...task });
    };
    const progress: TaskControl['progress'] = (done, total, etaSeconds = null) => {
      Object.assign(task, { done, total, etaSeconds });
      const wait = toldAt + interval - Date.now();
      if (wait <= 0) tell();
      else soon ??= setTimeout(tell, wait);
    };
    const end = (state: Task['state'], failure: Task['failure'] = null) => {
      this.running.delete(task.id);
      Object.assign(task, { state, failure, etaSeconds: null });
      tell();
    };
    const ended = Promise.resolve()
      .then(() => work({ signal: abort.signal, progress }))
      .then(
        (result) => {
          end('done');
          return result;
        },
        (error) => {
          const failure = asFailure(error);
          if (abort.signal.aborted || failure.code.endsWith('_cancelled')) end('cancelled');
          else end('failed', failure.toApiError());
          throw error;
        },
      );
    ended.catch(() => {});
    this.running.set(task.id, { task, abort, ended });
    tell();
    return ended;
  }

  /** Settles when it has ended. Throws `task_unknown` or `task_not_cancellable`. */
  async cancel(taskId: string): Promise<void> {
    const running = this.running.get(taskId);
    if (!running)
      throw new Failure('task_unknown', `There is no task ${taskId}.`, 'It may have ended just now.');
    if (!running.task.cancellable)
      throw new Failure(
        'task_not_cancellable',
        `"${running.task.title}" can't be given up.`,
        'Wait for its end.',
      );
    await giveUp(running);
  }

  /** Gives up what is under way. */
  async close(): Promise<void> {
    await Promise.all([...this.running.values()].map(giveUp));
  }
}

async function giveUp({ task, abort, ended }: Running): Promise<void> {
  abort.abort(new Failure('task_cancelled', `"${task.title}" was given up.`, 'Ask for it again.'));
  await ended.catch(() => {});
}
