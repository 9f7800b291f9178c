import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Task } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { Notices } from './notices.ts';

/** Minimum time between two progress notices of a task, in ms. */
const interval = 250;

type NewTask = Pick<Task, 'kind' | 'runId' | 'title' | 'cancelable'>;

/** Lets a task respond to cancellation and report progress. */
export interface TaskControl {
  /** Aborted with `task_canceled`. */
  signal: AbortSignal;
  progress(done: number, total: number, etaSeconds?: number | null): void;
}

interface Running {
  task: Task;
  abort: AbortController;
  ended: Promise<unknown>;
}

/** The id that a client chose for the task of its call; null after it was used. */
const chosen = new AsyncLocalStorage<{ id: string | null }>();

/** Performs a client's call. Its first task gets the given id, so that the client can tell it from the tasks of others. */
export const withTaskId = <T>(id: string, call: () => T): T => chosen.run({ id }, call);

function newTaskId(isTaken: (id: string) => boolean): string {
  const choice = chosen.getStore();
  const id = choice?.id ?? null;
  if (choice) choice.id = null;
  return id === null || isTaken(id) ? randomUUID() : id;
}

/** Lists, publishes and cancels the long-running tasks of this process. */
export class Tasks {
  private readonly notices: Notices;
  private readonly running = new Map<string, Running>();

  constructor(notices: Notices) {
    this.notices = notices;
  }

  /** Returns running tasks, oldest first. */
  list(): Task[] {
    return [...this.running.values()].map(({ task }) => ({ ...task }));
  }

  /** Runs work as a task and returns its result. */
  run<T>(newTask: NewTask, work: (control: TaskControl) => Promise<T>): Promise<T> {
    const task: Task = {
      id: newTaskId((id) => this.running.has(id)),
      ...newTask,
      state: 'running',
      done: 0,
      total: 0,
      etaSeconds: null,
      failure: null,
    };
    const abort = new AbortController();
    let publishedAt = 0;
    let timer: NodeJS.Timeout | undefined;
    const publish = () => {
      clearTimeout(timer);
      timer = undefined;
      publishedAt = Date.now();
      this.notices.emit('task', { ...task });
    };
    const progress: TaskControl['progress'] = (done, total, etaSeconds = null) => {
      Object.assign(task, { done, total, etaSeconds });
      const wait = publishedAt + interval - Date.now();
      if (wait <= 0) publish();
      else timer ??= setTimeout(publish, wait);
    };
    const end = (state: Task['state'], failure: Task['failure'] = null) => {
      this.running.delete(task.id);
      Object.assign(task, { state, failure, etaSeconds: null });
      publish();
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
          if (abort.signal.aborted || failure.code.endsWith('_canceled')) end('canceled');
          else end('failed', failure.toApiError());
          throw error;
        },
      );
    ended.catch(() => {});
    this.running.set(task.id, { task, abort, ended });
    publish();
    return ended;
  }

  /** Cancels a task and waits for its end. Throws `task_unknown` or `task_not_cancelable`. */
  async cancel(taskId: string): Promise<void> {
    const running = this.running.get(taskId);
    if (!running) throw new Failure('task_unknown', `Task ${taskId} was not found.`, 'The task may have just ended.');
    if (!running.task.cancelable)
      throw new Failure('task_not_cancelable', `"${running.task.title}" can't be canceled.`, 'Wait until it ends.');
    await cancel(running);
  }

  /** Cancels all tasks. */
  async close(): Promise<void> {
    await Promise.all([...this.running.values()].map(cancel));
  }
}

async function cancel({ task, abort, ended }: Running): Promise<void> {
  abort.abort(new Failure('task_canceled', `"${task.title}" was canceled.`, 'Start it again.'));
  await ended.catch(() => {});
}
