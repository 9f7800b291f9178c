import { type Channel, type Client, createClient } from '../../core/contract/client.ts';
import type { NoticeName } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import type { Api, ConnectionState } from './api.ts';

const firstDelay = 500;
const longestDelay = 8000;

/** What an answer that is no connection means, by its code. */
const refusals: Record<string, ConnectionState> = {
  not_signed_in: 'signed-out',
  host_untrusted: 'untrusted',
};

type Handler = (notice: never) => void;

/** What somebody wants to hear of; `end` stops hearing it on the present connection. */
interface Subscription {
  name: NoticeName;
  handler: Handler;
  runId: string | undefined;
  end: () => void;
}

/**
 * Keeps a client connected: opens a channel, and another with growing pauses whenever that fails or closes.
 * Handlers of notices outlive the channels; calls made while there is none fail with `not_connected`.
 */
export function connect(open: () => Promise<Channel>, wait: (ms: number) => Promise<unknown> = pause): Api {
  const subscriptions = new Set<Subscription>();
  const stateHandlers = new Set<(state: ConnectionState) => void>();
  let state: ConnectionState = 'connecting';
  let client: Client | null = null;
  /** What it is called that nobody answers. */
  let silence: ConnectionState = 'refused';
  let delay = firstDelay;

  function become(next: ConnectionState): void {
    state = next;
    for (const handler of [...stateHandlers]) handler(next);
  }

  function begin(subscription: Subscription): void {
    const { name, handler, runId } = subscription;
    subscription.end = client?.on(name, (notice) => handler(notice as never), runId) ?? (() => {});
  }

  function adopt(channel: Channel): void {
    client = createClient(channel);
    silence = 'lost';
    delay = firstDelay;
    for (const subscription of subscriptions) begin(subscription);
    // What was left out is asked for again, as after a connection that was lost.
    client.on('missed', () => become('open'));
    client.onClose(() => {
      client = null;
      become(silence);
      void retry();
    });
    become('open');
  }

  async function attempt(): Promise<void> {
    let channel: Channel;
    try {
      channel = await open();
    } catch (error) {
      const next = refusals[error instanceof Failure ? error.code : ''] ?? silence;
      // Who is about to sign in isn't disturbed by a core that is away for a while.
      const stays = next === state || (state === 'signed-out' && next === silence);
      if (!stays) become(next);
      return retry();
    }
    adopt(channel);
  }

  async function retry(): Promise<void> {
    await wait(delay);
    delay = Math.min(longestDelay, delay * 2);
    await attempt();
  }

  void attempt();

  return {
    call: (name, input) => (client ? client.call(name, input) : Promise.reject(notConnected())),
    on(name, handler, runId) {
      const subscription: Subscription = { name, handler: handler as Handler, runId, end: () => {} };
      subscriptions.add(subscription);
      begin(subscription);
      return () => {
        subscriptions.delete(subscription);
        subscription.end();
      };
    },
    onState(handler) {
      stateHandlers.add(handler);
      handler(state);
      return () => void stateHandlers.delete(handler);
    },
  };
}

function notConnected(): Failure {
  return new Failure(
    'not_connected',
    'The app is not connected to its core at the moment.',
    'Training goes on by itself. Wait until the connection is back, then try again.',
  );
}

function pause(ms: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
