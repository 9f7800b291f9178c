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
import { openDatabase } from '../../core/history/database.ts';
import { databaseFile } from '../../core/history/files.ts';
import { starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
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

  const run = (...args: string[]) => starpoHere(args, world.environment());
  const listed = async () => JSON.parse((await run('runs', '--json')).output);

  test('recreates a deleted run history', async () => {
    const before = await listed();
    expect(before).toHaveLength(2);
    world.deleteHistory();
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

  test('reports skipped and removed runs with the reason', async () => {
    const gone = world.run('gone-run', [journal.started(0)]);
    await listed();
    rmSync(gone, { recursive: true });
    mkdirSync(join(world.home, 'runs/Not a run'));
    writeFileSync(join(world.home, 'runs/notes.txt'), 'a file is not a run');
    writeFileSync(join(world.run('broken-run'), 'run.json'), '{');
    appendFileSync(join(world.home, 'runs/first-run/events.jsonl'), 'garbage\n');
    const { status, output } = await run('history', 'rebuild');
    expect(status).toBe(0);
    expect(output).toContain('2 runs, 6 events, 1 episode file.');
    expect(output).toContain('skipped Not a run: its name is not a run id; use `starpo adopt`\n');
    expect(output).toContain('skipped broken-run: run.json is not valid JSON: it ends too early');
    expect(output).not.toContain('notes.txt');
    expect(output).toContain('first-run: skipped invalid lines in its journal');
    expect(output).toContain('removed gone-run: ');

    const { output: runs, errors } = await run('runs');
    expect(runs).toContain('other-run');
    expect(errors).toMatch(
      /^2 folders can't be read:\n {2}Not a run: .+\n {2}broken-run: run.json is not valid JSON: it ends too early\n$/,
    );
    expect(await run('show', 'broken-run')).toMatchObject({
      status: 2,
      errors: expect.stringMatching(
        /broken-run can't be read: run.json is not valid JSON.+\n.+\n {2}details: run_unreadable/,
      ),
    });
  });

  test('leaves a run with an unreadable journal unchanged and rebuilds the others', async () => {
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
    ['has no settings', (file: string) => writeFileSync(file, '{}')],
  ])('leaves a run whose run.json %s unchanged', async (_, damage) => {
    const before = await listed();
    damage(join(world.home, 'runs/first-run/run.json'));
    const { status, output } = await run('history', 'rebuild', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ runs: 2, events: 6, skipped: [], unreadable: ['first-run'] });
    expect(await listed()).toEqual(before);
  });

  test.each([
    ['is not a database', (file: string) => writeFileSync(file, 'this is some text and no database at all')],
    ['is truncated', (file: string) => truncateSync(file, 3 * 4096)],
  ])('replaces a run history that %s', async (_, damage) => {
    const before = await listed();
    damage(databaseFile(world.home));
    const { status, output } = await run('history', 'rebuild', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ replaced: true, runs: 2, events: 6 });
    expect(await listed()).toEqual(before);
  });

  test('is the hint of other commands if the run history is damaged', async () => {
    writeFileSync(databaseFile(world.home), 'this is some text and no database at all');
    const { status, errors } = await run('runs');
    expect(status).toBe(1);
    expect(errors).toMatch(/hint: .*starpo history rebuild.*\n {2}details: data_folder_unusable/);
  });

  // Only Linux reports which processes have a file open.
  test.runIf(process.platform === 'linux')('leaves a damaged run history alone while it is in use', async () => {
    const file = databaseFile(world.home);
    const text = 'this is some text and no database at all';
    writeFileSync(file, text);
    const descriptor = openSync(file, 'r');
    const { status, output, errors } = await starpo(['history', 'rebuild'], world.environment()).finished;
    closeSync(descriptor);
    expect({ status, output }).toEqual({ status: 1, output: '' });
    expect(errors).toMatch(/^error: .+\n {2}hint: .+\n {2}details: history_in_use\n$/);
    expect(errors).toContain(String(process.pid));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('leaves a run history of a newer version alone', async () => {
    const database = openDatabase(world.home);
    database.pragma('user_version = 999');
    database.close();
    const { status, errors } = await run('history', 'rebuild');
    expect(status).toBe(1);
    expect(errors).toContain('details: history_version_unsupported');
  });

  test('runs in the running host, whose clients are notified only of removed runs', async () => {
    const studio = await world.studio();
    const client = createClient(await studio.open());
    const notices: unknown[] = [];
    client.on('removed', (notice) => notices.push(notice));
    const metricsPublished = new Promise<void>((resolve) => {
      client.on('metrics', (notice) => {
        notices.push(notice);
        resolve();
      });
    });
    expect(await run('history', 'rebuild')).toMatchObject({
      status: 0,
      errors: '',
      output: expect.stringContaining('2 runs, 6 events, 1 episode file.'),
    });
    const events = join(world.home, 'runs/first-run/events.jsonl');
    appendFileSync(events, `${journal.iteration(3, 2)}\n`);
    await metricsPublished;
    expect(notices).toMatchObject([{ runId: 'first-run', truncateAfter: null, points: [{ iteration: 2 }] }]);

    const removed = new Promise((resolve) => client.on('removed', resolve));
    rmSync(join(world.home, 'runs/other-run'), { recursive: true });
    expect(await client.call('history.rebuild', {})).toMatchObject({ runs: 1 });
    expect(await removed).toEqual({ runId: 'other-run' });
    expect((await client.call('runs.list', {})).map((each) => each.id)).toEqual(['first-run']);
    expect(world.logged).toEqual([]);
  });
});
