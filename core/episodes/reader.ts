import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ApiError, EpisodeTokens } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import type { RolloutPaths } from '../run-directory/rollouts.ts';
import type { readBoards } from './boards.ts';

type Boards = Awaited<ReturnType<typeof readBoards>>;

interface Place {
  folder: string;
  paths: RolloutPaths;
}

export interface ReaderRequest {
  id: number;
  ask:
    | ({ name: 'boards'; group: number | undefined } & Place)
    | ({ name: 'tokens'; episodeId: string } & Place);
}

export type ReaderAnswer = { id: number; value: unknown } | { id: number; error: ApiError };

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'worker.ts' : 'episodes-worker.cjs',
);

/**
 * Reads what takes long of rollout files, in a thread of its own, which begins with the first question. Where the thread ends by itself, what it was asked fails with
 * `reader_interrupted`, and the next question has a new one.
 */
export class EpisodeReader {
  private worker: Worker | null = null;
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  /** See `readBoards`. */
  boards(folder: string, paths: RolloutPaths, group?: number): Promise<Boards> {
    return this.ask({ name: 'boards', folder, paths, group }) as Promise<Boards>;
  }

  /** See `readTokens`. */
  tokens(folder: string, paths: RolloutPaths, episodeId: string): Promise<EpisodeTokens> {
    return this.ask({ name: 'tokens', folder, paths, episodeId }) as Promise<EpisodeTokens>;
  }

  async close(): Promise<void> {
    const { worker } = this;
    this.worker = null;
    this.fail('it was closed');
    await worker?.terminate();
  }

  private ask(ask: ReaderRequest['ask']): Promise<unknown> {
    const worker = this.worker ?? this.start();
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      // Who waits for an answer keeps the process; an idle thread doesn't.
      worker.ref();
      worker.postMessage({ id, ask } satisfies ReaderRequest);
    });
  }

  private start(): Worker {
    const worker = new Worker(script);
    this.worker = worker;
    const ended = (reason: string) => {
      if (this.worker !== worker) return;
      this.worker = null;
      this.fail(reason);
    };
    worker.on('message', (answer: ReaderAnswer) => this.hear(worker, answer));
    worker.on('error', (error) => ended(error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => ended('it has ended'));
    return worker;
  }

  private hear(worker: Worker, answer: ReaderAnswer): void {
    const waiting = this.pending.get(answer.id);
    this.pending.delete(answer.id);
    if (this.pending.size === 0) worker.unref();
    if ('error' in answer) {
      const { code, message, hint } = answer.error;
      waiting?.reject(new Failure(code, message, hint));
    } else waiting?.resolve(answer.value);
  }

  private fail(reason: string): void {
    const waiting = [...this.pending.values()];
    this.pending.clear();
    for (const { reject } of waiting)
      reject(
        new Failure(
          'reader_interrupted',
          `The thread that reads episodes failed: ${reason}.`,
          'Ask again; if this comes back, please report it with the log.',
        ),
      );
  }
}
