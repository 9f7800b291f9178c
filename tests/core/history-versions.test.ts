import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../core/contract/client.ts';
import { databaseFile } from '../../core/history/files.ts';
import { migrate, versionOf } from '../../core/history/migrations.ts';
import { readLog, readSeries } from '../../core/history/queries.ts';
import { starpoHere } from './fixtures/command.ts';
import * as journal from './fixtures/journal.ts';
import { World } from './fixtures/world.ts';

const id = 'kept-run';
const lines = [
  journal.started(0),
  journal.evaluation(1, 0, 0.4),
  journal.phase(2),
  journal.rollout(3, 1),
  journal.iteration(4, 1),
  journal.phase(5, 'update'),
  journal.iteration(6, 2),
  journal.log(7, 'careful'),
  journal.stopped(8, 2),
];
describe('a run history of another version', { timeout: 60_000 }, () => {
  let world: World;
  let folder: string;
  beforeEach(() => {
    world = new World({ thread: true });
    folder = world.run(id, lines);
    const tag = { v: 1, id: 'a', time: 1, type: 'tag', tag: 'kept', present: true };
    writeFileSync(join(folder, 'annotations.jsonl'), `${JSON.stringify(tag)}\n`);
  });
  afterEach(() => world.close());

  test('a made-up migration to the next version keeps the rows and runs once', () => {
    const database = new Database(':memory:');
    migrate(database);
    database.exec(`INSERT INTO runs (id, name, preset, task, environments, iterations, created_at)
      VALUES ('${id}', '', 'custom', 'reinforce', '["frozen-lake"]', 120, 0)`);
    const version = versionOf(database);
    const earlier = Array.from({ length: version }, () => 'SELECT 1');
    const next = "ALTER TABLE runs ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'";
    for (const _ of [1, 2]) migrate(database, [...earlier, next]);
    expect(versionOf(database)).toBe(version + 1);
    expect(database.prepare('SELECT id, mood FROM runs').all()).toEqual([{ id, mood: 'calm' }]);
    expect(() => migrate(database)).toThrow(expect.objectContaining({ code: 'history_version_unsupported' }));
    database.close();
  });

  test('older than 1.0 is rejected with a hint to `starpo history rebuild`, which replaces it', async () => {
    const database = new Database(databaseFile(world.home));
    database.exec('CREATE TABLE runs (id TEXT); PRAGMA user_version = 8');
    database.close();
    await expect(world.core()).rejects.toMatchObject({
      code: 'history_outdated',
      hint: expect.stringContaining('starpo history rebuild'),
    });
    const rebuilt = await starpoHere(['history', 'rebuild'], world.environment());
    expect(rebuilt.status).toBe(0);
    const core = await world.core();
    expect(core.runs.get(id)).toMatchObject({ status: 'completed', iteration: 2, marks: { tags: ['kept'] } });
  });

  test('is shown unchanged if newer; operations that would write report the reason', async () => {
    await (await world.core()).dispose();
    const database = new Database(databaseFile(world.home));
    database.pragma('user_version = 999');
    database.close();
    const bytes = readFileSync(databaseFile(world.home));

    const core = await world.core();
    expect(core.runs.list()).toMatchObject([{ id, status: 'completed', iteration: 2 }]);
    expect(readSeries(core.database, id, ['rollout/success_rate'])).toMatchObject([{ values: [0.1, 0.2] }]);
    expect(readLog(core.database, id).map(({ message }) => message)).toContain('careful');
    await core.dispose();

    const client = createClient(await (await world.studio()).open());
    expect(await client.call('runs.list', {})).toHaveLength(1);
    const rejection = { code: 'history_version_unsupported', hint: expect.stringMatching(/./) };
    await expect(client.call('runs.annotate', { runId: id, starred: true })).rejects.toMatchObject(rejection);
    await expect(client.call('runs.start', { runId: id })).rejects.toMatchObject(rejection);
    await expect(client.call('history.rebuild', {})).rejects.toMatchObject(rejection);
    await world.end();
    expect(readFileSync(databaseFile(world.home)).equals(bytes)).toBe(true);
    expect(await starpoHere(['runs'], world.environment())).toMatchObject({
      status: 0,
      output: expect.stringContaining(id),
    });
  });

  test('may contain unknown words if newer, which are shown unchanged', async () => {
    const action = {
      ...{ v: 1, id: 'b', time: 2, type: 'action', action: 'one', alert: null, by: 'user' },
      ...{ kind: 'pause', state: 'done', checkpoint: null, fork: null, changes: [], message: 'Paused.' },
    };
    const alert = {
      ...{ v: 1, id: 'c', time: Date.now(), type: 'alert', alert: 'two', state: 'raised', kind: 'fever' },
      ...{ severity: 'warning', iteration: 1, message: 'It is hot.' },
    };
    for (const line of [action, alert])
      writeFileSync(join(folder, 'annotations.jsonl'), `${JSON.stringify(line)}\n`, { flag: 'a' });
    await (await world.core()).dispose();
    const database = new Database(databaseFile(world.home));
    const phase = { name: 'dream', iteration: 2, depth: 1 };
    const evidence = { level: 'feverish', regime: 'delirium' };
    database.exec(`
      UPDATE runs SET status = 'hibernating', phase = '${JSON.stringify(phase)}';
      INSERT OR REPLACE INTO echo_trap (run, seq, state, since) VALUES ('${id}', 8, 'feverish', 1);
      UPDATE alerts SET severity = 'grave', state = 'forwarded', evidence = '${JSON.stringify(evidence)}';
      UPDATE actions SET body = json_set(body, '$.by', 'moon', '$.kind', 'cool', '$.state', 'pondered');
      UPDATE evaluations SET metrics = json_set(metrics, '$.weather', 'sunny');`);
    database.pragma('user_version = 999');
    database.close();

    const client = createClient(await (await world.studio()).open());
    const [run] = await client.call('runs.list', {});
    expect(run).toMatchObject({
      status: 'hibernating',
      trap: { state: 'feverish' },
      lastAction: { by: 'moon', kind: 'cool', state: 'pondered' },
      latest: { 'evaluation/frozen-lake/success_rate': 0.4 },
    });
    expect(await client.call('alerts.list', { runId: id })).toMatchObject([
      { severity: 'grave', state: 'forwarded', level: 'feverish', regime: 'delirium' },
    ]);
    expect((await client.call('runs.get', { runId: id })).summary).toEqual(run);
    await world.end();
    for (const args of [['runs'], ['show', id], ['alerts', id]])
      expect(await starpoHere(args, world.environment())).toMatchObject({
        status: 0,
        output: expect.stringMatching(args[0] === 'alerts' ? /feverish, forwarded/ : /hibernating/),
      });
  });

  test.each([
    [
      'older',
      {
        version: 0,
        preset: 'gone',
        task: 'reinforce',
        iterations: 7,
        environments: [{ type: 'frozen-lake' }],
      },
    ],
    [
      'newer',
      {
        version: 99,
        preset: 'new',
        task: 'reinforce',
        iterations: 7,
        device: 'tpu',
        environments: [{ type: 'moon', gravity: 1 }],
      },
    ],
  ])('a run of an %s version is listed with its progress', async (_, config) => {
    const other = world.run('other-run', [
      journal.started(0),
      journal.phase(1, 'meditate'),
      journal.other(2),
      journal.iteration(3, 1),
    ]);
    writeFileSync(join(other, 'run.json'), JSON.stringify(config));
    const core = await world.core();
    const run = core.runs.get('other-run');
    expect(run).toMatchObject({
      iteration: 1,
      iterations: 7,
      environments: config.environments.map(({ type }) => type),
    });
    expect(readLog(core.database, 'other-run').filter(({ seq }) => seq < 0)).toEqual([]);
    await expect(core.runs.start('other-run')).rejects.toMatchObject({
      code: expect.stringMatching(/^config_/),
    });
    if (config.version !== 99) return;
    expect(() => core.queue.add('other-run')).toThrow(expect.objectContaining({ code: 'config_version_unsupported' }));
    expect(core.queue.list()).toEqual([]);
  });
});
