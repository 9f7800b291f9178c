import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '../contract/failure.ts';
import type { Calibration } from '../echo-trap/calibration.ts';
import type { RebuildOptions } from './rebuild.ts';
import type { HistoryWriter } from './writer.ts';

/** What the thread is made with. */
export interface WriterData {
  home: string;
  calibration?: Calibration | undefined;
}

export type WriterRequest = { id: number; name: keyof HistoryWriter; runId: string } | { abort: number };

/** What of an error gets from one thread to another: there, nothing but name and message would. */
export type PortableError = { message: string } & Partial<
  Record<'name' | 'code' | 'hint' | 'syscall' | 'stack', string | undefined>
>;

/** `id` 0: the writer is ready, or can't be. */
export type WriterAnswer =
  | { id: number; value: unknown }
  | { id: number; error: PortableError }
  | { id: number; progress: { done: number; total: number } };

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  progress: RebuildOptions['progress'];
}

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'worker.ts' : 'history-worker.cjs',
);

/** The writer in a thread of its own, so that no journal, however long, keeps core from answering. Throws as `openDatabase` does. */
export async function startWriterThread(home: string, calibration?: Calibration): Promise<HistoryWriter> {
  const thread = new WriterThread({ home, calibration });
  await thread.ready;
  return {
    survey: () => thread.call('survey'),
    takeIn: (runId) => thread.call('takeIn', runId),
    takeAnnotations: (runId) => thread.call('takeAnnotations', runId),
    trap: (runId) => thread.call('trap', runId),
    rebuild: (options) => thread.call('rebuild', '', options),
    close: () => thread.close(),
  };
}

class WriterThread {
  readonly ready: Promise<unknown>;
  private readonly worker: Worker;
  private readonly exited: Promise<void>;
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;
  /** Why nothing is answered any more. */
  private ended: unknown = null;

  constructor(data: WriterData) {
    this.worker = new Worker(script, { workerData: data });
    this.worker.on('message', (answer: WriterAnswer) => this.hear(answer));
    this.worker.on('error', (error) => this.fail(error));
    this.exited = new Promise((resolve) => {
      this.worker.once('exit', () => {
        this.fail(new Error('The thread that writes the history has ended.'));
        resolve();
      });
    });
    this.ready = new Promise((resolve, reject) => {
      this.pending.set(0, { resolve, reject, progress: undefined });
    });
  }

  call<N extends keyof HistoryWriter>(
    name: N,
    runId = '',
    { progress, signal }: RebuildOptions = {},
  ): ReturnType<HistoryWriter[N]> {
    const id = ++this.lastId;
    const send = (request: WriterRequest) => this.worker.postMessage(request);
    const abort = () => send({ abort: id });
    const answered = new Promise<unknown>((resolve, reject) => {
      if (this.ended) throw this.ended;
      this.pending.set(id, { resolve, reject, progress });
      // Who waits for an answer keeps the process; an idle thread doesn't.
      this.worker.ref();
      send({ id, name, runId });
      signal?.addEventListener('abort', abort);
    });
    return answered
      .catch((error) => {
        throw signal?.aborted ? signal.reason : error;
      })
      .finally(() => signal?.removeEventListener('abort', abort)) as ReturnType<HistoryWriter[N]>;
  }

  async close(): Promise<void> {
    await this.call('close').catch(() => this.worker.terminate());
    this.worker.ref();
    await this.exited;
  }

  private hear(answer: WriterAnswer): void {
    const call = this.pending.get(answer.id);
    if (!call) return;
    if ('progress' in answer) {
      call.progress?.(answer.progress.done, answer.progress.total);
      return;
    }
    this.settle(answer.id);
    if ('error' in answer) call.reject(revived(answer.error));
    else call.resolve(answer.value);
  }

  private fail(error: unknown): void {
    this.ended ??= error;
    for (const [id, call] of [...this.pending]) {
      this.settle(id);
      call.reject(error);
    }
  }

  private settle(id: number): void {
    this.pending.delete(id);
    if (this.pending.size === 0) this.worker.unref();
  }
}

function revived({ code, message, hint, ...rest }: PortableError): Error {
  if (hint !== undefined && code !== undefined) return new Failure(code, message, hint);
  const known = Object.entries({ code, ...rest }).filter(([, value]) => value !== undefined);
  return Object.assign(new Error(message), Object.fromEntries(known));
}
