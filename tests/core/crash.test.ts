import { randomInt } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { randomNumbers } from '../../benchmarks/bootstrap.ts';
import { eventsAfter, readSeries } from '../../core/history/queries.ts';
import type { Core } from '../../core/index.ts';
import { thorough } from '../thorough.ts';
import { Child, starpo } from './fixtures/child.ts';
import * as journal from './fixtures/journal.ts';
import { killFollowingCore } from './fixtures/killing.ts';
import { untilRun, untilSeq, World } from './fixtures/world.ts';

const id = 'some-run';
const count = thorough ? 3000 : 1500;
const lines = [
  journal.started(0),
  ...Array.from({ length: count }, (_, index) => journal.iteration(index + 1, index + 1)),
  journal.stopped(count + 1, count),
];

/** Appends the rest of the journal in pieces of arbitrary length, yielding between them. */
async function* grow(folder: string, piece: number) {
  const text = lines.map((line) => `${line}\n`).join('');
  for (let at = 0; at < text.length; at += piece) {
    appendFileSync(join(folder, 'events.jsonl'), text.slice(at, at + piece));
    yield;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function expectEveryEventOnce(core: Core) {
  expect(eventsAfter(core.database, id, -1, { limit: count * 2 }).map((event) => event.seq)).toEqual(
    lines.map((_, seq) => seq),
  );
  const [success] = readSeries(core.database, id, ['rollout/success_rate']);
  expect(success!.iterations).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  expect(core.database.prepare("SELECT count(*) FROM events WHERE type = 'iteration'").pluck().get()).toBe(count);
}

describe('core', () => {
  let world: World;
  const children: Child[] = [];
  const child = (...args: ConstructorParameters<typeof Child>) => {
    children.push(new Child(...args));
    return children.at(-1)!;
  };
  beforeEach(() => {
    world = new World({ thread: true });
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((each) => each.kill()));
    await world.close();
  });

  test('killed while indexing a journal, it has every event once after a restart', {
    timeout: 300_000,
  }, async () => {
    const folder = world.run(id, lines);
    const seed = Number(process.env.STARPO_TEST_SEED ?? randomInt(2 ** 31));
    console.log(`deaths by STARPO_TEST_SEED=${seed}`);
    for (let death = 0; death < (thorough ? 5 : 2); death++) {
      const core = child('tests/core/fixtures/ingesting.ts', [world.home, id, folder], world.environment());
      const batches = 10 + ((seed >> (death * 5)) % 97);
      await core.line(new RegExp(`^batch ${batches}$`));
      await core.kill();
    }
    const core = await world.core();
    await untilSeq(core, id, count + 1);
    expectEveryEventOnce(core);
  });

  test('killed while following growing journals, it has the same run history as a rebuild', {
    timeout: 300_000,
  }, async () => {
    const seed = Number(process.env.STARPO_TEST_SEED ?? randomInt(2 ** 31));
    console.log(`deaths by STARPO_TEST_SEED=${seed}`);
    const kills = thorough ? 4 : 2;
    const killed = await killFollowingCore(world, kills, randomNumbers(seed), thorough ? 1000 : 200);
    expect(killed.starting + killed.following).toBe(kills);
  });

  test('two clients in their own processes receive each event once and in order', {
    timeout: 300_000,
  }, async () => {
    const folder = world.run(id);
    const studio = await world.studio();
    const others = [1, 2].map(() => child('tests/core/fixtures/following-core.ts', [world.home], world.environment()));
    await Promise.all(others.map((other) => other.line(/^ready$/)));
    for await (const _ of grow(folder, 4099));
    await Promise.all(others.map((other) => other.line(new RegExp(`^iteration ${count}$`))));
    for (const other of others) {
      const { output } = await other.kill();
      const iterations = [...output.matchAll(/^iteration (\d+)$/gm)].map((match) => Number(match[1]));
      expect(iterations).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    }
    await studio.close();
    expectEveryEventOnce(await world.core());
    expect(world.logged).toEqual([]);
  });

  test('killed during training, it reconnects to the trainer, which has continued', {
    timeout: 300_000,
  }, async () => {
    const args = ['train', 'starter-bandit', '--set', 'iterations=8', '--set', 'rollout.groups=1'];
    children.push(starpo(args, world.environment({ FAKE_TRAINER_HOLD: '6' })));
    const cli = children.at(-1)!;
    const runId = (await cli.line(/^run (\S+)$/))[1]!;
    await cli.line(/^iteration 3\/8/);
    await cli.kill();

    const core = await world.core();
    await untilRun(core, runId, (run) => run.iteration === 6);
    expect(core.runs.get(runId).status).toBe('running');
    await expect(core.runs.start(runId)).rejects.toMatchObject({ code: 'run_active' });
    await core.runs.command(runId, 'checkpoint');
    await untilRun(core, runId, (run) => run.status === 'completed');
    const seqs = eventsAfter(core.database, runId, -1).map((event) => event.seq);
    expect(seqs).toEqual(journal.storedSeqs(core.runs.folder(runId)));
    expect(core.runs.get(runId).iteration).toBe(8);
  });
});
