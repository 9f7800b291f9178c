import { expect, test } from 'vitest';
import { type Channel, channelPair } from '../../core/contract/channel.ts';
import type { ConnectionState } from '../../renderer/api/api.ts';
import { connect } from '../../renderer/api/connection.ts';
import { FakeCore } from './fake-core.ts';
import { sampleRuns } from './fake-data.ts';

/** Openings, answered one after the other by hand; `waits` collects the pauses in between and lets them pass at once. */
function setUp() {
  const waits: number[] = [];
  const pending: { resolve: (channel: Channel) => void; reject: (cause: Error) => void }[] = [];
  const api = connect(
    () => new Promise<Channel>((resolve, reject) => pending.push({ resolve, reject })),
    (ms) => Promise.resolve(waits.push(ms)),
  );
  const states: ConnectionState[] = [];
  api.onState((state) => states.push(state));
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return {
    api,
    waits,
    states,
    async refuse() {
      pending.shift()!.reject(new Error('refused'));
      await turns();
    },
    async accept(core: FakeCore) {
      const pair = channelPair();
      core.serve(pair.right);
      pending.shift()!.resolve(pair.left);
      await turns();
      return async () => {
        pair.close();
        await turns();
      };
    },
  };
}

test('a refused connection is tried again with growing pauses', async () => {
  const { states, waits, refuse, accept } = setUp();
  for (let attempt = 0; attempt < 6; attempt++) await refuse();
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
  await accept(new FakeCore());
  expect(states).toEqual(['connecting', 'refused', 'open']);
});

test('calls without a connection fail with a code and a hint', async () => {
  const { api } = setUp();
  await expect(api.call('runs.list', {})).rejects.toMatchObject({
    code: 'not_connected',
    hint: expect.stringMatching(/./),
  });
});

test('handlers of notices outlive a lost connection', async () => {
  const { api, states, accept } = setUp();
  const heard: string[] = [];
  const stop = api.on('run', ({ id }) => heard.push(id));
  const run = sampleRuns()[0]!;
  const next = () => new Promise<void>((resolve) => setTimeout(resolve));

  const first = new FakeCore();
  const close = await accept(first);
  first.notify('run', run);
  await next();
  await close();
  const second = new FakeCore();
  await accept(second);
  second.notify('run', run);
  await next();
  expect(heard).toEqual([run.id, run.id]);
  expect(states).toEqual(['connecting', 'open', 'lost', 'open']);

  stop();
  second.notify('run', run);
  await next();
  expect(heard).toHaveLength(2);
});

test('an answer of core arrives, and so does its refusal', async () => {
  const { api, accept } = setUp();
  await accept(new FakeCore());
  expect(await api.call('runs.list', {})).toHaveLength(sampleRuns().length);
  await expect(api.call('runs.get', { runId: 'nothing' })).rejects.toMatchObject({ code: 'run_not_found' });
});
