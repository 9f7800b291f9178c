import { createBirpc } from 'birpc';
import { type Channel, messageLimit } from './channel.ts';
import type { CallResult, Input, Notice, NoticeName, Output, ProcedureName } from './contract.ts';
import { Failure } from './failure.ts';
import { runOf, type Topic, topicKey } from './topics.ts';

export type { Channel } from './channel.ts';
/** The error that `call` throws, with `code`, `message` and `hint`. */
export { Failure as ApiFailure } from './failure.ts';

export interface Client {
  /** Throws {@link Failure}; `connection_lost` if the channel closes before the answer, `input_too_large` above the input limit. `taskId`: the id, a UUID, of the task that the call starts. */
  call<P extends ProcedureName>(name: P, input: Input<P>, taskId?: string): Promise<Output<P>>;
  /** Subscribes to a notice, for all runs or one, and returns a function that unsubscribes. */
  on<N extends NoticeName>(name: N, handler: (notice: Notice<N>) => void, runId?: string): () => void;
  /** Called once, when the channel has closed. */
  onClose(handler: () => void): void;
}

/** The functions that the server exposes over birpc. */
export interface ServerFunctions {
  call(name: string, input: unknown, taskId?: string): Promise<unknown>;
}

/** The functions that a client exposes over birpc. */
export interface ClientFunctions {
  notice(name: string, payload: unknown): void;
}

/** Maximum size of an input in bytes: a message has up to 1 kB besides its input. */
const inputLimit = messageLimit - 1024;

/** Creates the typed API client, for browsers and Node. */
export function createClient(channel: Channel): Client {
  const handlers = new Map<string, Set<(payload: never) => void>>();
  const closeHandlers: (() => void)[] = [];
  let closed = false;

  const functions: ClientFunctions = {
    notice: (name, payload) => {
      if (name === 'beat') return confirm((payload as Notice<'beat'>).beat);
      const runId = runOf(name as NoticeName, payload as never);
      for (const key of new Set([name, topicKey({ name, runId })]))
        for (const handler of [...(handlers.get(key) ?? [])]) handler(payload as never);
    },
  };
  /** Sends a subscription. The server handles it before later calls, so notices report every change after their answers. */
  const subscribe = (change: 'add' | 'remove', topic: Topic) => {
    if (!closed) quietly('notices.subscribe', { add: [], remove: [], [change]: [topic] });
  };
  const confirm = (beat: number) => quietly('notices.acknowledge', { beat });
  const quietly = <P extends ProcedureName>(name: P, input: Input<P>) => void remote.call(name, input).catch(() => {});
  const remote = createBirpc<ServerFunctions, ClientFunctions>(functions, {
    post: (text: string) => channel.send(text),
    on: (handler) => channel.onMessage(handler),
    serialize: (message) => JSON.stringify(message),
    deserialize: (text) => JSON.parse(text),
    timeout: -1,
  });
  channel.onClose(() => {
    closed = true;
    remote.$close(connectionLost());
    for (const handler of closeHandlers.splice(0)) handler();
  });

  return {
    async call<P extends ProcedureName>(name: P, input: Input<P>, taskId?: string) {
      if (closed) throw connectionLost();
      if (new TextEncoder().encode(JSON.stringify(input)).length > inputLimit) throw inputTooLarge(name);
      const result = (await (taskId === undefined
        ? remote.call(name, input)
        : remote.call(name, input, taskId))) as CallResult<P>;
      if (result.ok) return result.value;
      const { code, message, hint, unconfirmed } = result.error;
      throw new Failure(code, message, hint, unconfirmed);
    },
    on(name, handler, runId) {
      const topic = { name, runId };
      const set = handlers.get(topicKey(topic)) ?? new Set();
      handlers.set(topicKey(topic), set);
      if (set.size === 0) subscribe('add', topic);
      set.add(handler);
      return () => {
        if (set.delete(handler) && set.size === 0) subscribe('remove', topic);
      };
    },
    onClose: (handler) => {
      if (closed) handler();
      else closeHandlers.push(handler);
    },
  };
}

export function connectionLost(): Failure {
  return new Failure(
    'connection_lost',
    'The connection to StarPO Studio was lost.',
    'Training continues. Check that the app or `starpo serve` is running, then try again.',
  );
}

function inputTooLarge(name: string): Failure {
  return new Failure(
    'input_too_large',
    `The input of ${name} is too long: more than ${inputLimit} bytes.`,
    'Send less data per call.',
  );
}
