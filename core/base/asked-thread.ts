import { type MessagePort, Worker, type WorkerOptions } from 'node:worker_threads';
import type { ApiError } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';

interface Question {
  id: number;
  ask: unknown;
}

type Answer = { id: number; value: unknown } | { id: number; error: ApiError };

const closing = 'close';

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * A worker thread that answers requests; it starts with the first one. If it crashes, pending requests fail with `reader_interrupted`, and the next
 * request starts a new thread.
 */
export class AskedThread<Ask> {
  private worker: Worker | null = null;
  private closed = false;
  private readonly script: string;
  private readonly what: string;
  private readonly options: WorkerOptions;
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  /** `what` names the data for errors, as in "the thread that reads episodes". */
  constructor(script: string, what: string, options: WorkerOptions = {}) {
    this.script = script;
    this.what = what;
    this.options = options;
  }

  /** Rejects after `close`. */
  async ask(ask: Ask): Promise<unknown> {
    if (this.closed) throw this.interrupted('it was closed');
    const worker = this.worker ?? this.start();
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      // Only pending requests keep the process alive.
      worker.ref();
      worker.postMessage({ id, ask } satisfies Question);
    });
  }

  /** Asks the thread to exit: terminating it inside better-sqlite3 may crash the process. */
  async close(): Promise<void> {
    const { worker } = this;
    this.closed = true;
    this.worker = null;
    this.fail('it was closed');
    if (!worker) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.ref();
    worker.postMessage(closing);
    await exited;
  }

  private start(): Worker {
    const worker = new Worker(this.script, this.options);
    this.worker = worker;
    const ended = (reason: string) => {
      if (this.worker !== worker) return;
      this.worker = null;
      this.fail(reason);
    };
    worker.on('message', (answer: Answer) => this.hear(worker, answer));
    worker.on('error', (error) => ended(error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => ended('it has ended'));
    return worker;
  }

  private hear(worker: Worker, answer: Answer): void {
    const waiting = this.pending.get(answer.id);
    this.pending.delete(answer.id);
    if (this.worker === worker && this.pending.size === 0) worker.unref();
    if ('error' in answer) {
      const { code, message, hint } = answer.error;
      waiting?.reject(new Failure(code, message, hint));
    } else waiting?.resolve(answer.value);
  }

  private fail(reason: string): void {
    const waiting = [...this.pending.values()];
    this.pending.clear();
    for (const { reject } of waiting) reject(this.interrupted(reason));
  }

  private interrupted(reason: string): Failure {
    return new Failure(
      'reader_interrupted',
      `The thread that reads ${this.what} failed: ${reason}.`,
      'Try again. If the problem persists, please report it with the log.',
    );
  }
}

/** Worker side: answers each request as it arrives. */
export function answerAll<Ask>(port: MessagePort, reply: (ask: Ask) => unknown): void {
  port.on('message', async (message: Question | typeof closing) => {
    // Ends only the thread; the client has rejected its pending requests already.
    if (message === closing) process.exit();
    const { id, ask } = message;
    let answer: Answer;
    try {
      answer = { id, value: await reply(ask as Ask) };
    } catch (error) {
      answer = { id, error: asFailure(error).toApiError() };
    }
    port.postMessage(answer);
  });
}
