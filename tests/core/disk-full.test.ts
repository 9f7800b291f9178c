import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandLine } from '../command-line.ts';
import { runWithin } from '../run-within.ts';
import * as journal from './fixtures/journal.ts';
import { dump, World } from './fixtures/world.ts';

let world: World;
beforeEach(() => {
  world = new World({ thread: true });
});
afterEach(() => world.close());

test.each([
  ['while it is created', 0],
  ['while a journal is indexed', 1 << 20],
])(
  'a full disk is reported with a hint (run history, %s), and no data is lost once there is space',
  {
    timeout: 300_000,
  },
  async (_, limit) => {
    const lines = Array.from({ length: 1500 }, (_, seq) => journal.log(seq + 1, 'x'.repeat(1000)));
    world.run('some-run', [journal.started(0), ...lines]);
    const command = [process.execPath, commandLine, 'runs'];
    const { status, errors } = runWithin(limit, command, world.environment());
    expect(status).toBe(1);
    expect(errors).toMatch(/^error: .+\n {2}hint: .+\n {2}details: disk_full\n/m);

    const fresh = new World();
    try {
      world.copyRunsTo(fresh);
      expect(dump(await world.core())).toEqual(dump(await fresh.core()));
    } finally {
      await fresh.close();
    }
  },
);
