import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../core/contract/client.ts';
import { databaseFile, openDatabase } from '../../core/history/database.ts';
import { starpo } from './fixtures/child.ts';
import * as journal from './fixtures/journal.ts';
import { World } from './fixtures/world.ts';

describe('starpo history rebuild', { timeout: 300_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
    world.run('first-run', [journal.started(0), journal.rollout(1, 1), journal.iteration(2, 1)]);
    world.run('other-run', [journal.started(0), journal.log(1, 'hello'), journal.stopped(2, 0)]);
  });
  afterEach(() => world.close());

  const run = (...args: string[]) => starpo(args, world.environment()).finished;
  const listed = async () => JSON.parse((await run('runs', '--json')).output);

  test('makes a history that was deleted again', async () => {
    const before = await listed();
    expect(before).toHaveLength(2);
    for (const suffix of ['', '-wal', '-shm']) rmSync(databaseFile(world.home) + suffix, { force: true });
    const { status, output, errors } = await run('history', 'rebuild', '--json');
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(JSON.parse(output)).toEqual({
      folder: world.home,
      replaced: false,
      runs: 2,
      events: 6,
      rollouts: 1,
      skipped: [],
      forgotten: [],
      damaged: [],
      unreadable: [],
      damagedAnnotations: [],
    });
    expect(await listed()).toEqual(before);
  });

  test('says what it left out, and why', async () => {
    const gone = world.run('gone-run', [journal.started(0)]);
    await listed();
    rmSync(gone, { recursive: true });
    mkdirSync(join(world.home, 'runs/Not a run'));
    writeFileSync(join(world.run('broken-run'), 'run.json'), '{');
    appendFileSync(join(world.home, 'runs/first-run/events.jsonl'), 'garbage\n');
    const { status, output } = await run('history', 'rebuild');
    expect(status).toBe(0);
    expect(output).toContain('2 runs, 6 events, 1 episode files.');
    expect(output).toContain('skipped Not a run: ');
    expect(output).toContain('skipped broken-run: ');
    expect(output).toContain('first-run: skipped invalid lines in its journal');
    expect(output).toContain('removed gone-run: ');
  });

  test('leaves a run whose journal cannot be read as it was, and goes on with the others', async () => {
    const before = await listed();
    const journalFile = join(world.home, 'runs/first-run/events.jsonl');
    rmSync(journalFile);
    mkdirSync(journalFile);
    const { status, output } = await run('history', 'rebuild');
    expect(status).toBe(0);
    expect(output).toContain("first-run: its files can't be read; its history is unchanged");
    expect(await listed()).toEqual(before);
  });

  test.each([
    ['is damaged', (file: string) => writeFileSync(file, '{"version": 2,')],
    ['says nothing of a run', (file: string) => writeFileSync(file, '{}')],
  ])('leaves a run whose run.json %s as it was', async (_, damage) => {
    const before = await listed();
    damage(join(world.home, 'runs/first-run/run.json'));
    const { status, output } = await run('history', 'rebuild', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ runs: 2, events: 6, skipped: [], unreadable: ['first-run'] });
    expect(await listed()).toEqual(before);
  });

  test.each([
    ['is no database', (file: string) => writeFileSync(file, 'this is some text and no database at all')],
    ['was cut short', (file: string) => truncateSync(file, 3 * 4096)],
  ])('replaces a history that %s', async (_, damage) => {
    const before = await listed();
    damage(databaseFile(world.home));
    const { status, output } = await run('history', 'rebuild', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ replaced: true, runs: 2, events: 6 });
    expect(await listed()).toEqual(before);
  });

  test('is what the other commands send to where the history is damaged', async () => {
    writeFileSync(databaseFile(world.home), 'this is some text and no database at all');
    const { status, errors } = await run('runs');
    expect(status).toBe(1);
    expect(errors).toMatch(/hint: .*starpo history rebuild.*\n {2}details: data_folder_unusable/);
  });

  // Who has a file open can be told on Linux alone.
  test.runIf(process.platform === 'linux')('leaves a damaged history that is in use alone', async () => {
    const file = databaseFile(world.home);
    const text = 'this is some text and no database at all';
    writeFileSync(file, text);
    const held = openSync(file, 'r');
    const { status, output, errors } = await run('history', 'rebuild');
    closeSync(held);
    expect({ status, output }).toEqual({ status: 1, output: '' });
    expect(errors).toMatch(/^error: .+\n {2}hint: .+\n {2}details: history_in_use\n$/);
    expect(errors).toContain(String(process.pid));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('leaves a history of a newer version alone', async () => {
    const database = openDatabase(world.home);
    database.pragma('user_version = 999');
    database.close();
    const { status, errors } = await run('history', 'rebuild');
    expect(status).toBe(1);
    expect(errors).toContain('details: history_version_unsupported');
  });

  test('is done by the host where there is one, which goes on; its clients hear only of what is gone', async () => {
    const studio = await world.studio();
    const client = createClient(await studio.open());
    const told: unknown[] = [];
    client.on('removed', (notice) => told.push(notice));
    const grown = new Promise<void>((resolve) => {
      client.on('metrics', (notice) => {
        told.push(notice);
        resolve();
      });
    });
    expect(await run('history', 'rebuild')).toMatchObject({
      status: 0,
      errors: '',
      output: expect.stringContaining('2 runs, 6 events, 1 episode files.'),
    });
    const events = join(world.home, 'runs/first-run/events.jsonl');
    appendFileSync(events, `${journal.iteration(3, 2)}\n`);
    await grown;
    expect(told).toMatchObject([{ runId: 'first-run', truncateAfter: null, points: [{ iteration: 2 }] }]);

    const removed = new Promise((resolve) => client.on('removed', resolve));
    rmSync(join(world.home, 'runs/other-run'), { recursive: true });
    expect(await client.call('history.rebuild', {})).toMatchObject({ runs: 1 });
    expect(await removed).toEqual({ runId: 'other-run' });
    expect((await client.call('runs.list', {})).map((each) => each.id)).toEqual(['first-run']);
    expect(world.logged).toEqual([]);
  });
});
