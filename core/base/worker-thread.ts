import { dirname, join } from 'node:path';
import { parentPort, Worker } from 'node:worker_threads';
import { type BirpcReturn, createBirpc } from 'birpc';
import { Failure, messageOf } from '../contract/failure.ts';

/** Functions that a worker thread serves. Each takes one input and, if it supports them, abort and progress as a {@link CallControl}. */
type WorkerFunctions = Record<string, (input: never, control: never) => unknown>;

interface CallControl {
  signal?: AbortSignal;
  progress?: (...values: never[]) => void;
}

interface ThreadOptions {
  script: string;
  /** Code of the error of pending calls if the thread fails. */
  code: string;
  /** Completes "The thread that ...", for example "reads episodes". */
  purpose: string;
  /** `workerData` of the thread. */
  data?: unknown;
}

/** The functions that the two sides expose over birpc. */
interface WorkerSide {
  start(): Promise<void>;
  call(id: number, name: string, input: unknown): Promise<unknown>;
  abort(id: number): void;
  close(): Promise<void>;
}
interface OwnerSide {
  progress(id: number, values: unknown[]): void;
}

interface Connection {
  worker: Worker;
  remote: BirpcReturn<WorkerSide, OwnerSide>;
  exited: Promise<unknown>;
  failed: boolean;
}

/**
 * Returns the path of a worker script: next to `caller` in a checkout, next to the bundle that contains the caller in the app. Tests set
 * STARPO_BUILT to the folder of the built workers, which start three times as fast.
 */
export function workerScript(caller: string, name: string): string {
  const built = caller.endsWith('.ts') ? process.env.STARPO_BUILT : dirname(caller);
  return built ? join(built, `${name}.cjs`) : join(dirname(caller), `${name}.ts`);
}

/**
 * A worker thread that serves functions. The first call starts it. If it fails, pending calls reject with the thread's error code, and the next
 * call starts a new one. Only pending calls keep the process alive.
 */
export class WorkerThread<F extends WorkerFunctions> {
  private readonly options: ThreadOptions;
  private connection: Connection | null = null;
  private closed = false;
  private readonly pending = new Map<number, CallControl>();
  private lastId = 0;

  constructor(options: ThreadOptions) {
    this.options = options;
  }

  /** Starts the thread before the first call. Throws what the worker's `create` throws. */
  async start(): Promise<void> {
    await this.request({}, (remote) => remote.start());
  }

  /** Calls a function of the worker. Throws what it throws, the abort reason, or the thread's error code if the thread fails or is closed. */
  async call<N extends keyof F & string>(name: N, ...args: Parameters<F[N]>): Promise<Awaited<ReturnType<F[N]>>> {
    const [input, control = {}] = args as [unknown?, CallControl?];
    const value = await this.request(control, (remote, id) => remote.call(id, name, input));
    return value as Awaited<ReturnType<F[N]>>;
  }

  /** Makes one call and ends the thread, which has exited when this settles. An abort terminates the thread. */
  async callOnce<N extends keyof F & string>(name: N, ...args: Parameters<F[N]>): Promise<Awaited<ReturnType<F[N]>>> {
    const { signal } = (args[1] ?? {}) as CallControl;
    const terminate = async () => {
      this.closed = true;
      await this.connection?.worker.terminate();
    };
    signal?.addEventListener('abort', terminate);
    try {
      return await this.call(name, ...args);
    } finally {
      signal?.removeEventListener('abort', terminate);
      await terminate();
    }
  }

  /** Rejects pending and later calls, and asks the thread to exit: terminating it inside a native library may crash the process. */
  async close(): Promise<void> {
    this.closed = true;
    if (!this.connection) return;
    const { worker, remote, exited } = this.connection;
    worker.ref();
    remote.close.asEvent().catch(() => {});
    remote.$close(this.interrupted('it was closed'));
    await exited;
  }

  private async request<T>(
    control: CallControl,
    send: (remote: Connection['remote'], id: number) => Promise<T>,
  ): Promise<T> {
    const { signal } = control;
    signal?.throwIfAborted();
    const id = ++this.lastId;
    let abort = () => {};
    try {
      if (this.connection?.failed) {
        // A failed thread may have files open until it exits.
        this.connection.worker.ref();
        await this.connection.exited;
        signal?.throwIfAborted();
      }
      const { worker, remote } = this.connect();
      abort = () => void remote.abort.asEvent(id).catch(() => {});
      signal?.addEventListener('abort', abort);
      this.pending.set(id, control);
      worker.ref();
      return await send(remote, id);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.pending.delete(id);
      if (this.pending.size === 0 && !this.closed) this.connection?.worker.unref();
    }
  }

  private connect(): Connection {
    if (this.closed) throw this.interrupted('it was closed');
    this.connection ??= this.open();
    return this.connection;
  }

  private open(): Connection {
    const worker = new Worker(this.options.script, { workerData: this.options.data });
    const progress: OwnerSide['progress'] = (id, values) => this.pending.get(id)?.progress?.(...(values as never[]));
    const remote = createBirpc<WorkerSide, OwnerSide>(
      { progress },
      {
        post: (message) => worker.postMessage(message),
        on: (handler) => void worker.on('message', handler),
        deserialize: (message) => ('e' in message ? { ...message, e: fromPortable(message.e) } : message),
        timeout: -1,
      },
    );
    const fail = (reason: string) => {
      connection.failed = true;
      remote.$close(this.interrupted(reason));
    };
    worker.on('error', (error) => fail(messageOf(error)));
    const exited = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        fail('it exited');
        this.connection = null;
        resolve();
      });
    });
    const connection: Connection = { worker, remote, exited, failed: false };
    return connection;
  }

  private interrupted(reason: string): Failure {
    const { code, purpose } = this.options;
    return new Failure(
      code,
      `The thread that ${purpose} failed: ${reason}.`,
      'Try again. If the problem persists, please report it with the log.',
    );
  }
}

/**
 * Serves functions to the thread's owner; call it in the worker. The first call runs `create`; if it throws, the call rejects and the next call tries again. A
 * function named `close` runs before the thread exits.
 */
export function serveWorker(create: () => WorkerFunctions | Promise<WorkerFunctions>): void {
  const port = parentPort!;
  const aborts = new Map<number, AbortController>();
  let created: Promise<WorkerFunctions> | null = null;
  const functions = (): Promise<WorkerFunctions> => {
    created ??= Promise.resolve()
      .then(create)
      .catch((error) => {
        created = null;
        throw error;
      });
    return created;
  };
  const own: WorkerSide = {
    start: async () => void (await functions()),
    call: async (id, name, input) => {
      const abort = new AbortController();
      aborts.set(id, abort);
      const progress = (...values: unknown[]) => void owner.progress.asEvent(id, values);
      try {
        const call = (await functions())[name] as (input: unknown, control: object) => unknown;
        return await call(input, { signal: abort.signal, progress });
      } finally {
        aborts.delete(id);
      }
    },
    abort: (id) => aborts.get(id)?.abort(),
    close: async () => {
      try {
        const { close } = (await created?.catch(() => null)) ?? {};
        await (close as (() => unknown) | undefined)?.();
      } finally {
        // Ends only this thread. Its owner waits for that, also if closing failed.
        process.exit();
      }
    },
  };
  const owner = createBirpc<OwnerSide, WorkerSide>(own, {
    post: (message) => port.postMessage(message),
    on: (handler) => void port.on('message', handler),
    serialize: (message) => ('e' in message ? { ...message, e: toPortable(message.e) } : message),
    timeout: -1,
  });
}

/** Minimum time between two progress messages of a {@link throttled} callback, in ms. */
const interval = 100;

/** Returns a callback that drops progress which follows too soon. */
export function throttled(progress: (done: number, total: number) => void): typeof progress {
  let sentAt = 0;
  return (done, total) => {
    if (Date.now() - sentAt < interval) return;
    sentAt = Date.now();
    progress(done, total);
  };
}

/** The properties of an error that pass between threads; structured clones lose all but name, message and stack. */
type PortableError = { message: string } & Partial<Record<'name' | 'code' | 'hint' | 'syscall' | 'stack', string>>;

function toPortable(error: unknown): PortableError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, code, hint, syscall, stack } = error as Error & PortableError;
  return { name, message, code, hint, syscall, stack };
}

function fromPortable({ code, message, hint, ...rest }: PortableError): Error {
  if (code !== undefined && hint !== undefined) return new Failure(code, message, hint);
  const defined = Object.entries({ code, ...rest }).filter(([, value]) => value !== undefined);
  return Object.assign(new Error(message), Object.fromEntries(defined));
}
