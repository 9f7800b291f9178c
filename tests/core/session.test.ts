import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { NoticeName } from '../../core/contract/contract.ts';
import { Session } from '../../core/server/session.ts';

/** A client that reads its notices only in `catchUp`. */
class SlowClient {
  readonly inbox: { name: NoticeName; payload: unknown }[] = [];
  closed = false;
  readonly session = new Session({
    send: (name, payload) => {
      this.inbox.push({ name, payload });
      return JSON.stringify(payload).length;
    },
    close: () => {
      this.closed = true;
    },
  });

  bytes = () => this.inbox.reduce((sum, { payload }) => sum + JSON.stringify(payload).length, 0);
  names = () => this.inbox.map(({ name }) => name);

  /** Reads all notices and answers heartbeats. */
  catchUp(): NoticeName[] {
    const read = this.inbox.splice(0);
    for (const { name, payload } of read) if (name === 'beat') this.session.acknowledge(payload as { beat: number });
    return read.map(({ name }) => name);
  }
}

const line = (runId: string, length = 10) => ({
  runId,
  line: { seq: 0, time: 0, level: 'info' as const, message: 'x'.repeat(length) },
});

describe("a client's session", () => {
  let client: SlowClient;
  beforeEach(() => {
    vi.useFakeTimers();
    client = new SlowClient();
  });
  afterEach(() => {
    client.session.close();
    vi.useRealTimers();
  });
  const subscribe = (...add: { name: string; runId?: string }[]) => client.session.subscribe({ add, remove: [] });

  test('receives the subscribed notices of one or all runs until it unsubscribes', () => {
    client.session.deliver('log', line('one'));
    subscribe({ name: 'log', runId: 'one' });
    client.session.deliver('log', line('one'));
    client.session.deliver('log', line('two'));
    client.session.deliver('removed', { runId: 'one' });
    expect(client.names()).toEqual(['log']);
    subscribe({ name: 'removed' });
    client.session.deliver('removed', { runId: 'two' });
    client.session.subscribe({ add: [], remove: [{ name: 'log', runId: 'one' }] });
    client.session.deliver('log', line('one'));
    expect(client.names()).toEqual(['log', 'removed']);
  });

  test('buffers at most a megabyte for a stalled client, then asks it to reload', () => {
    subscribe({ name: 'log' });
    for (let count = 0; count < 60_000; count++) client.session.deliver('log', line('one', 3000));
    expect(client.bytes()).toBeLessThan(1.2 * 2 ** 20);
    expect(client.catchUp()).toContain('beat');
    expect(client.names()).toEqual(['missed']);
    client.catchUp();
    client.session.deliver('log', line('one'));
    expect(client.names()).toEqual(['log']);
  });

  test('misses no notice if the client keeps up', () => {
    subscribe({ name: 'log' });
    let received = 0;
    for (let count = 0; count < 3000; count++) {
      client.session.deliver('log', line('one', 3000));
      const names = client.catchUp();
      expect(names).not.toContain('missed');
      received += names.filter((name) => name === 'log').length;
    }
    expect(received).toBe(3000);
  });

  test('sends heartbeats and closes if the client does not answer', () => {
    for (let time = 0; time < 120; time += 5) {
      vi.advanceTimersByTime(5000);
      expect(client.catchUp()).toEqual(['beat']);
    }
    vi.advanceTimersByTime(60_000);
    expect(client.names()).toEqual(['beat']);
    expect(client.closed).toBe(true);
  });
});
