import { type Channel, type Client, createClient } from '../../core/contract/client.ts';
import type { NoticeName } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import type { Api, ConnectionState } from './api.ts';

const firstDelay = 500;
const longestDelay = 8000;

type Handler = (notice: never) => void;

/** Written out, since the contract's own table would bring its schemas into the page; the type keeps it whole. */
const noticeNames: Record<NoticeName, true> = {
  run: true,
  removed: true,
  metrics: true,
  memoryPlan: true,
  log: true,
  rollout: true,
  evaluation: true,
  rolloutRemoved: true,
  queue: true,
  storage: true,
  alerts: true,
};

/**
 * Keeps a client connected: opens a channel, and another with growing pauses whenever that fails or closes.
 * Handlers of notices outlive the channels; calls made while there is none fail with `not_connected`.
 */
export function connect(open: () => Promise<Channel>, wait: (ms: number) => Promise<unknown> = pause): Api {
  const handlers = new Map<NoticeName, Set<Handler>>();
  const stateHandlers = new Set<(state: ConnectionState) => void>();
  let state: ConnectionState = 'connecting';
  let client: Client | null = null;
  let delay = firstDelay;

  function become(next: ConnectionState): void {
    state = next;
    for (const handler of [...stateHandlers]) handler(next);
  }

  function adopt(channel: Channel): void {
    client = createClient(channel);
    delay = firstDelay;
    for (const name of Object.keys(noticeNames) as NoticeName[]) {
      client.on(name, (notice) => {
        for (const handler of [...(handlers.get(name) ?? [])]) handler(notice as never);
      });
    }
    client.onClose(() => {
      client = null;
      become('lost');
      void retry();
    });
    become('open');
  }

  async function attempt(): Promise<void> {
    let channel: Channel;
    try {
      channel = await open();
    } catch {
      if (state === 'connecting') become('refused');
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
    on(name, handler) {
      const set = handlers.get(name) ?? new Set();
      handlers.set(name, set);
      set.add(handler as Handler);
      return () => void set.delete(handler as Handler);
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
