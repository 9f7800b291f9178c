import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ApiError } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import type { Message, Reply, ReplyRules } from './conversation.ts';

/** What the thread is made with: a model folder. */
export interface PolicyData {
  folder: string;
}

export type PolicyRequest =
  | { abort: true }
  | { close: true }
  | { id: number; name: 'reply'; message: Message; rules: ReplyRules; first: boolean }
  | { id: number; name: 'score'; ids: number[] }
  | { id: number; name: 'tokenize'; text: string };

/** `id` 0: the policy is loaded, or can't be. */
export type PolicyAnswer =
  | { id: number; value: unknown }
  | { id: number; error: ApiError }
  | { id: number; text: string };

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  told?: ((text: string) => void) | undefined;
}

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'policy-worker.ts' : 'policy-worker.cjs',
);

type Wanted<R extends PolicyRequest = PolicyRequest> = R extends { id: number } ? Omit<R, 'id'> : never;

/** A policy in its own thread, so that generating does not block. Closing it aborts its work. */
export class PolicyThread {
  private readonly worker: Worker;
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;
  private ended: Failure | null = null;
  private closing: Promise<void> | null = null;
  /** Once the thread has ended. */
  readonly exited: Promise<void>;

  private constructor(folder: string) {
    this.worker = new Worker(script, { workerData: { folder } satisfies PolicyData });
    this.worker.on('message', (answer: PolicyAnswer) => this.hear(answer));
    this.worker.on('error', (error) => this.fail(interrupted(error.message)));
    this.exited = new Promise((resolve) => this.worker.once('exit', () => resolve()));
    void this.exited.then(() => this.fail(interrupted('it has ended')));
  }

  /** Loads the policy of a model folder or checkpoint. Throws what is wrong with it. */
  static async start(folder: string): Promise<PolicyThread> {
    const thread = new PolicyThread(folder);
    try {
      await new Promise((resolve, reject) => thread.pending.set(0, { resolve, reject }));
      thread.worker.unref();
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** The policy's answer in its conversation, or in a new one where it is the `first`; null where no more fits into its context. */
  reply(
    message: Message,
    rules: ReplyRules,
    { first, told }: { first: boolean; told: (text: string) => void },
  ): Promise<Reply | null> {
    return this.call({ name: 'reply', message, rules, first }, told) as Promise<Reply | null>;
  }

  /** Log-probability of each id but the first after those before it, in nats. The conversation is over. */
  score(ids: number[]): Promise<number[]> {
    return this.call({ name: 'score', ids }) as Promise<number[]>;
  }

  tokenize(text: string): Promise<number[]> {
    return this.call({ name: 'tokenize', text }) as Promise<number[]>;
  }

  /** Gives up the answer that it is at, which fails. */
  abort(): void {
    this.worker.postMessage({ abort: true } satisfies PolicyRequest);
  }

  /** Ends once what it is reading is read, a token or a turn's whole prompt: a thread that is terminated inside ONNX Runtime takes the process along. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    this.fail(interrupted('the game has ended'));
    this.worker.ref();
    this.worker.postMessage({ close: true } satisfies PolicyRequest);
    await this.exited;
  }

  private call(wanted: Wanted, told?: (text: string) => void): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      if (this.ended) throw this.ended;
      this.pending.set(id, { resolve, reject, told });
      this.worker.ref();
      this.worker.postMessage({ ...wanted, id });
    });
  }

  private hear(answer: PolicyAnswer): void {
    const call = this.pending.get(answer.id);
    if (!call) return;
    if ('text' in answer) {
      call.told?.(answer.text);
      return;
    }
    this.pending.delete(answer.id);
    if (this.pending.size === 0) this.worker.unref();
    if ('error' in answer)
      call.reject(new Failure(answer.error.code, answer.error.message, answer.error.hint));
    else call.resolve(answer.value);
  }

  private fail(error: Failure): void {
    this.ended ??= error;
    for (const [id, call] of [...this.pending]) {
      this.pending.delete(id);
      call.reject(this.ended);
    }
  }
}

const interrupted = (reason: string) =>
  new Failure('policy_failed', `The policy failed: ${reason}.`, 'Open the game again.');
