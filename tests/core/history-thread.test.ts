import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventsAfter } from '../../core/history/queries.ts';
import * as journal from './fixtures/journal.ts';
import { untilRun, World } from './fixtures/world.ts';

/** The newest thread that was started. */
let thread: Worker;
const remember = (worker: Worker) => {
  thread = worker;
};

describe('the thread that writes the history', { timeout: 60_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
    process.on('worker', remember);
  });
  afterEach(async () => {
    process.off('worker', remember);
    await world.close();
  });

  test.each<[string, () => unknown]>([
    ['fails on a message', () => thread.postMessage(null)],
    ['is ended', () => thread.terminate()],
  ])(
    'that %s fails what it was asked for with a code; another one takes in what is missing',
    async (_, crash) => {
      const folder = world.run('one', [journal.started(0), journal.iteration(1, 1)]);
      const core = await world.core();
      const first = thread;
      const gone = new Promise((resolve) => first.once('exit', resolve));
      crash();
      await expect(core.supervisor.rebuild()).rejects.toMatchObject({
        code: 'history_interrupted',
        hint: expect.stringMatching(/./),
      });
      appendFileSync(join(folder, 'events.jsonl'), `${journal.iteration(2, 2)}\n`);
      await untilRun(core, 'one', (run) => run.iteration === 2);
      await gone;
      expect(thread).not.toBe(first);
      expect(eventsAfter(core.database, 'one', -1).map(({ seq }) => seq)).toEqual([0, 1, 2]);
      expect(await core.supervisor.rebuild()).toMatchObject({ runs: 1, events: 3 });
    },
  );
});

// A thread that is terminated inside SQLite takes the app along. It's the exit code that tells: 1 for one that was terminated.
test('the threads of the history end by themselves', async () => {
  const world = new World();
  const exits: Promise<number>[] = [];
  const watch = (worker: Worker) =>
    exits.push(new Promise((resolve) => worker.once('exit', (code) => resolve(code))));
  process.on('worker', watch);
  try {
    world.run('one', [journal.started(0), journal.iteration(1, 1)]);
    const core = await world.core();
    await core.series.times('one');
    const asked = [core.series.times('one'), core.series.times('one')];
    const failed = asked.map((each) => expect(each).rejects.toMatchObject({ code: 'reader_interrupted' }));
    await core.series.close();
    await Promise.all(failed);
    await core.dispose();
    expect(await Promise.all(exits)).toEqual([0, 0]);
  } finally {
    process.off('worker', watch);
    await world.close();
  }
});
