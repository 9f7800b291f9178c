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

export type WriterRequest =
  | { id: number; name: keyof HistoryWriter; runId: string; iteration: number }
  | { abort: number };

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
  import.meta.filename.endsWith('.ts') ? 'writer-worker.ts' : 'writer-worker.cjs',
);

/**
 * The writer in a thread of its own, so that no journal, however long, keeps core from answering. Where the thread crashes, what it was asked for fails with
 * `history_interrupted`, and the next call has a new one; what is missing then is found by the next survey. Throws as `openDatabase` does.
 */
export async function startWriterThread(home: string, calibration?: Calibration): Promise<HistoryWriter> {
  let thread = new WriterThread({ home, calibration });
  await thread.ready;
  let starting: Promise<void> | null = null;
  const startAgain = async () => {
    await thread.exited;
    thread = new WriterThread({ home, calibration });
    await thread.ready;
  };
  const living = async () => {
    if (thread.ended) {
      starting ??= startAgain().finally(() => {
        starting = null;
      });
    }
    await starting;
    return thread;
  };
  return {
    survey: async () => (await living()).call('survey'),
    ingest: async (runId) => (await living()).call('ingest', runId),
    takeAnnotations: async (runId) => (await living()).call('takeAnnotations', runId),
    trap: async (runId) => (await living()).call('trap', runId),
    forkBaseline: async (runId, iteration) => (await living()).call('forkBaseline', runId, { iteration }),
    indexEpisodes: async () => (await living()).call('indexEpisodes'),
    rebuild: async (options) => (await living()).call('rebuild', '', options),
    async close() {
      await starting?.catch(() => {});
      await thread.close();
    },
  };
}

class WriterThread {
  readonly ready: Promise<unknown>;
  readonly exited: Promise<void>;
  /** Why nothing is answered any more. */
  ended: unknown = null;
  private readonly worker: Worker;
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  constructor(data: WriterData) {
    this.worker = new Worker(script, { workerData: data });
    this.worker.on('message', (answer: WriterAnswer) => this.hear(answer));
    this.worker.on('error', (error) => this.fail(interrupted(error.message)));
    this.exited = new Promise((resolve) => {
      this.worker.once('exit', () => {
        this.fail(interrupted('it has ended'));
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
    { progress, signal, iteration = 0 }: RebuildOptions & { iteration?: number } = {},
  ): ReturnType<HistoryWriter[N]> {
    const id = ++this.lastId;
    const send = (request: WriterRequest) => this.worker.postMessage(request);
    const abort = () => send({ abort: id });
    const answered = new Promise<unknown>((resolve, reject) => {
      if (this.ended) throw this.ended;
      // It may have been given up while the thread started.
      signal?.throwIfAborted();
      this.pending.set(id, { resolve, reject, progress });
      // A pending call keeps the process alive; an idle thread does not.
      this.worker.ref();
      send({ id, name, runId, iteration });
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

const interrupted = (reason: string) =>
  new Failure(
    'history_interrupted',
    `The thread that writes the history failed: ${reason}.`,
    'It is started again, and what is missing is taken in. If this comes back, please report it with the log.',
  );

function revived({ code, message, hint, ...rest }: PortableError): Error {
  if (hint !== undefined && code !== undefined) return new Failure(code, message, hint);
  const known = Object.entries({ code, ...rest }).filter(([, value]) => value !== undefined);
  return Object.assign(new Error(message), Object.fromEntries(known));
}
