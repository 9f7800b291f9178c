import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventsAfter } from '../../core/history/queries.ts';
import { fakeRollout } from './fixtures/fake-rollout.mjs';
import * as journal from './fixtures/journal.ts';
import { untilRun, World } from './fixtures/world.ts';

/** The last worker that was started. */
let lastWorker: Worker;
const remember = (worker: Worker) => {
  lastWorker = worker;
};

let world: World;
beforeEach(() => {
  world = new World({ thread: true });
  process.on('worker', remember);
});
afterEach(async () => {
  process.off('worker', remember);
  await world.close();
});

describe("the run history's writer thread", { timeout: 60_000 }, () => {
  test('ingests runs together, and an error affects only its run', async () => {
    const [good, bad] = [world.run('good', [journal.started(0)]), world.run('bad', [journal.started(0)])];
    const core = await world.core();
    rmSync(join(bad, 'events.jsonl'));
    mkdirSync(join(bad, 'events.jsonl'));
    appendFileSync(join(good, 'events.jsonl'), `${journal.iteration(1, 1)}\n`);
    const results = await Promise.allSettled(['bad', 'good'].map((runId) => core.history.ingest(runId)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(eventsAfter(core.database, 'good', 0, { limit: 9 }).map(({ seq }) => seq)).toEqual([1]);
  });

  test.each<[string, () => unknown]>([
    ['crashes', () => lastWorker.postMessage(null)],
    ['is terminated', () => lastWorker.terminate()],
  ])('rejects pending requests with a code if it %s, and a new thread ingests the rest', async (_, crash) => {
    const folder = world.run('one', [journal.started(0), journal.iteration(1, 1)]);
    const core = await world.core();
    const first = lastWorker;
    const exited = new Promise((resolve) => first.once('exit', resolve));
    crash();
    await expect(core.supervisor.rebuild()).rejects.toMatchObject({
      code: 'history_interrupted',
      hint: expect.stringMatching(/./),
    });
    appendFileSync(join(folder, 'events.jsonl'), `${journal.iteration(2, 2)}\n`);
    await untilRun(core, 'one', (run) => run.iteration === 2);
    await exited;
    expect(lastWorker).not.toBe(first);
    expect(eventsAfter(core.database, 'one', -1).map(({ seq }) => seq)).toEqual([0, 1, 2]);
    expect(await core.supervisor.rebuild()).toMatchObject({ runs: 1, events: 3 });
  });
});

describe("the run history's reader thread", { timeout: 60_000 }, () => {
  /** Creates a run with eight episodes. */
  function createPlayedRun(): void {
    const folder = world.run('played');
    mkdirSync(join(folder, 'rollouts'));
    const lake = { type: 'frozen-lake', label: 'frozen-lake' };
    const rollout = fakeRollout(folder, {}, 1, 'train', lake, 2, 4);
    const event = { v: 1, seq: 1, time: 1_700_000_001_000, type: 'rollout', ...rollout };
    world.run('played', [journal.started(0), JSON.stringify(event)]);
  }

  test.each([
    ['a thread', true],
    ['core', false],
  ])("searches without core's connection if %s writes", async (_, writesInThread) => {
    createPlayedRun();
    const core = await world.core(undefined, { thread: writesInThread });
    expect(await core.history.reader.call('search', { text: 'player' })).toEqual({
      ...{ episodes: [], more: false, indexed: 0, pending: 1 },
    });
    // Inside a transaction, core's own connection doesn't see later writes.
    core.database.exec('BEGIN; SELECT count(*) FROM episodes');
    await core.episodeIndex.indexAll();
    const found = await core.history.reader.call('search', { text: 'player', limit: 3 });
    expect(found).toMatchObject({ more: true, indexed: 8, pending: 0 });
    expect(found.episodes).toHaveLength(3);
    expect(core.database.prepare('SELECT count(*) AS n FROM episodes').get()).toEqual({ n: 0 });
    core.database.exec('COMMIT');
  });

  test('rejects pending requests with a code if it crashes, and the next search starts a new thread', async () => {
    createPlayedRun();
    const core = await world.core();
    await core.episodeIndex.indexAll();
    const search = () => core.history.reader.call('search', { text: 'player' });
    await search();
    const first = lastWorker;
    const exited = new Promise((resolve) => first.once('exit', resolve));
    first.postMessage(null);
    await expect(search()).rejects.toMatchObject({
      code: 'reader_interrupted',
      hint: expect.stringMatching(/./),
    });
    expect((await search()).episodes).toHaveLength(8);
    expect(lastWorker).not.toBe(first);
    await exited;
    expect((await search()).episodes).toHaveLength(8);
  });
});

// Terminating a thread inside SQLite crashes the app. A terminated thread exits with code 1.
test('the threads of the run history exit without being terminated, and no thread starts afterwards', async () => {
  const world = new World({ thread: true });
  const exits: Promise<number>[] = [];
  const watch = (worker: Worker) => exits.push(new Promise((resolve) => worker.once('exit', (code) => resolve(code))));
  process.on('worker', watch);
  try {
    world.run('one', [journal.started(0), journal.iteration(1, 1)]);
    const core = await world.core();
    const { reader } = core.history;
    await reader.call('times', 'one');
    const requests = [reader.call('times', 'one'), core.history.reader.call('search', { text: '' })];
    const rejections = requests.map((each) => expect(each).rejects.toMatchObject({ code: 'reader_interrupted' }));
    await reader.close();
    await Promise.all(rejections);
    await core.dispose();
    await expect(core.history.reader.call('search', { text: '' })).rejects.toThrow('closed');
    expect(await Promise.all(exits)).toEqual([0, 0]);
  } finally {
    process.off('worker', watch);
    await world.close();
  }
});
