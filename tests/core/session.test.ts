import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { NoticeName } from '../../core/contract/contract.ts';
import { Session } from '../../core/server/session.ts';

/** A client that takes in what it is sent only when it is told to. */
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

  /** Takes in all that has come and answers the beats among it. */
  catchUp(): NoticeName[] {
    const taken = this.inbox.splice(0);
    for (const { name, payload } of taken)
      if (name === 'beat') this.session.acknowledge(payload as { beat: number });
    return taken.map(({ name }) => name);
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
  const subscribe = (...add: { name: string; runId?: string }[]) =>
    client.session.subscribe({ add, remove: [] });

  test('hears what it subscribed to, of all runs or of one, until it has had enough', () => {
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

  test('that stalls costs little, however much there is to be told; then it is told to ask again', () => {
    subscribe({ name: 'log' });
    for (let count = 0; count < 60_000; count++) client.session.deliver('log', line('one', 3000));
    expect(client.bytes()).toBeLessThan(1.2 * 2 ** 20);
    const taken = client.catchUp();
    expect(taken).toContain('beat');
    expect(client.names()).toEqual(['missed']);
    client.catchUp();
    client.session.deliver('log', line('one'));
    expect(client.names()).toEqual(['log']);
  });

  test('that keeps up misses nothing', () => {
    subscribe({ name: 'log' });
    let heard = 0;
    for (let count = 0; count < 3000; count++) {
      client.session.deliver('log', line('one', 3000));
      const taken = client.catchUp();
      expect(taken).not.toContain('missed');
      heard += taken.filter((name) => name === 'log').length;
    }
    expect(heard).toBe(3000);
  });

  test('is asked now and then whether it is there, and ends where it does not answer', () => {
    for (let time = 0; time < 120; time += 5) {
      vi.advanceTimersByTime(5000);
      expect(client.catchUp()).toEqual(['beat']);
    }
    vi.advanceTimersByTime(60_000);
    expect(client.names()).toEqual(['beat']);
    expect(client.closed).toBe(true);
  });
});
