import { appendFileSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../core/history/database.ts';
import { databaseFile } from '../../core/history/files.ts';
import {
  eventsAfter,
  listRollouts,
  readLog,
  readMemoryPlan,
  readSeries,
  recentPace,
} from '../../core/history/queries.ts';
import { CollapseReader } from '../../core/history/run-collapse.ts';
import type { Core } from '../../core/index.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import * as journal from './fixtures/journal.ts';
import { collectNotices, dump, nextNotice, untilRun, World } from './fixtures/world.ts';

const id = 'some-run';
const seqs = (core: Core) => eventsAfter(core.database, id, -1).map((event) => event.seq);
const success = (core: Core) => readSeries(core.database, id, ['rollout/success_rate'])[0];

describe('the run history', { timeout: 60_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());

  test('ingests a growing journal and waits for incomplete lines', async () => {
    const folder = world.run(id, [journal.started(0), journal.iteration(1, 1)]);
    const core = await world.core();
    expect(core.runs.get(id)).toMatchObject({ iteration: 1, status: 'interrupted' });

    const next = journal.iteration(2, 2);
    appendFileSync(join(folder, 'events.jsonl'), next.slice(0, 20));
    await core.supervisor.refresh(id);
    expect(seqs(core)).toEqual([0, 1]);
    appendFileSync(join(folder, 'events.jsonl'), `${next.slice(20)}\n${journal.stopped(3, 2)}\n`);
    await untilRun(core, id, (run) => run.status === 'completed');
    expect(seqs(core)).toEqual([0, 1, 2, 3]);
    expect(success(core)).toEqual({ name: 'rollout/success_rate', iterations: [1, 2], values: [0.1, 0.2] });
  });

  test.each([
    [
      'a value of the same length',
      (text: string) => text.replace('"rollout/success_rate":0.1', '"rollout/success_rate":0.7'),
      [1, 2],
      [0.7, 0.2],
    ],
    ['a line that was removed', (text: string) => text.replace(/.*"iteration":1,.*\n/, ''), [2], [0.2]],
    [
      'a longer value',
      (text: string) => text.replace('"rollout/success_rate":0.1', '"rollout/success_rate":0.125'),
      [1, 2],
      [0.125, 0.2],
    ],
  ])('indexes a journal again that was edited: %s', async (_, edit, iterations, values) => {
    const folder = world.run(id, [
      journal.started(0),
      journal.iteration(1, 1),
      journal.iteration(2, 2),
      journal.stopped(3, 2),
    ]);
    const file = join(folder, 'events.jsonl');
    const text = readFileSync(file, 'utf8');
    const first = await world.core();
    expect(success(first)).toMatchObject({ iterations: [1, 2], values: [0.1, 0.2] });
    const dropped = collectNotices(first, 'metrics');
    expect(edit(text)).not.toBe(text);
    writeFileSync(file, edit(text));
    await first.supervisor.scanNow();
    expect(success(first)).toMatchObject({ iterations, values });
    expect(dropped[0]).toMatchObject({ truncateAfter: -1 });
    expect(readLog(first.database, id).filter(({ level }) => level === 'warning')).toEqual([]);
    await first.dispose();
    // The original is restored while no core runs.
    writeFileSync(file, text);
    const second = await world.core();
    expect(success(second)).toMatchObject({ iterations: [1, 2], values: [0.1, 0.2] });
  });

  test('a journal whose time alone changed is not indexed again', async () => {
    const folder = world.run(id, [journal.started(0), journal.iteration(1, 1)]);
    const core = await world.core();
    const notices = collectNotices(core, 'metrics');
    utimesSync(join(folder, 'events.jsonl'), 1, 1);
    await core.supervisor.scanNow();
    await core.supervisor.refresh(id);
    expect(notices).toEqual([]);
    expect(seqs(core)).toEqual([0, 1]);
  });

  test('the pace of a run excludes pauses', async () => {
    const running = [journal.started(0), journal.iteration(1, 1), journal.iteration(2, 2), journal.paused(3, 2)];
    const folder = world.run(id, [...running, journal.resumed(100, 2), journal.iteration(101, 3)]);
    const core = await world.core();
    expect(recentPace(core.database, id, 10)).toBe(1500);
    expect(readLog(core.database, id).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Started on /),
      'Paused at iteration 2.',
      'Resumed after the pause at iteration 2.',
    ]);
    appendFileSync(
      join(folder, 'events.jsonl'),
      `${journal.paused(102, 3)}\n${journal.resumed(200, 3)}\n${journal.phase(201)}\n`,
    );
    await core.supervisor.refresh(id);
    expect(recentPace(core.database, id, 10)).toBe(1500);
  });

  test('the pace of a run does not subtract a pause before its first iteration', async () => {
    const paused = [journal.started(0), journal.paused(1, 0), journal.resumed(100, 0)];
    world.run(id, [...paused, journal.iteration(101, 1), journal.iteration(103, 2)]);
    const core = await world.core();
    expect(recentPace(core.database, id, 10)).toBe(2000);
  });

  test('skips damaged lines, reports them once and ingests the rest', async () => {
    const lines = [
      journal.started(0),
      'garbage',
      '{"half',
      journal.other(1),
      journal.log(2, 'careful'),
      '[]',
      journal.iteration(3, 1),
    ];
    world.run(id, lines);
    const core = await world.core();
    expect(seqs(core)).toEqual([0, 1, 2, 3]);
    const warnings = readLog(core.database, id).filter((line) => line.level === 'warning');
    expect(warnings.map((line) => line.seq)).toEqual([-1, 2]);
    expect(warnings[0]!.message).toContain('skipped');
  });

  test('damaged lines in a growing journal are reported once', async () => {
    const folder = world.run(id, [journal.started(0)]);
    const core = await world.core();
    const published = collectNotices(core, 'log');
    for (const seq of [1, 2]) {
      appendFileSync(join(folder, 'events.jsonl'), `garbage\n${journal.iteration(seq, seq)}\n`);
      await core.supervisor.refresh(id);
    }
    expect(published).toMatchObject([{ line: { seq: -1, message: expect.stringContaining('skipped') } }]);
  });

  test('stores the last memory plan and publishes new ones', async () => {
    const folder = world.run(id, [journal.started(0), journal.memoryPlan(1, 30e9)]);
    const core = await world.core();
    const planned = () => readMemoryPlan(core.database, id)?.total_bytes;
    expect(planned()).toBe(30e9);
    const published = collectNotices(core, 'memoryPlan');
    appendFileSync(
      join(folder, 'events.jsonl'),
      `${journal.started(2, { checkpoint: 'checkpoints/000000', iteration: 0 })}\n${journal.memoryPlan(3, 20e9)}\n`,
    );
    await core.supervisor.refresh(id);
    expect(planned()).toBe(20e9);
    expect(published).toMatchObject([{ runId: id, plan: { total_bytes: 20e9, parts: [{ name: 'policy' }] } }]);
  });

  test('stores and publishes the first-step check, and logs failed checks', async () => {
    const folder = world.run(id, [journal.started(0)]);
    const core = await world.core();
    const stored = () => createHandlers(core)['runs.get']({ runId: id });
    expect((await stored()).firstStepCheck).toBeNull();
    const published = collectNotices(core, 'firstStepCheck');
    appendFileSync(join(folder, 'events.jsonl'), `${journal.firstStepCheck(1, 1)}\n`);
    await core.supervisor.refresh(id);
    const { firstStepCheck } = await stored();
    expect(firstStepCheck).toMatchObject({ iteration: 1, checks: [{ verdict: 'ok' }, { verdict: 'wrong', value: 1 }] });
    expect(published).toEqual([{ runId: id, check: firstStepCheck }]);
    expect(readLog(core.database, id).at(-1)).toMatchObject({
      level: 'warning',
      message:
        'First-step check: 1 wrong. Truncated responses 100 % (usual: up to 20 %). The actions are lost. Change rollout.max_response_tokens.',
    });
  });

  test('lists folders that are not indexed, with the reason, and publishes changes', async () => {
    world.run(id);
    const runFile = (name: string, text: string) => writeFileSync(join(world.run(name), 'run.json'), text);
    const reasons = {
      '0-bytes': (name: string) => runFile(name, ''),
      'no-config': (name: string) => rmSync(join(world.run(name), 'run.json')),
      'no-preset': (name: string) => runFile(name, '{"version": 1, "task": "reinforce"}'),
      'a link': (name: string) => symlinkSync(world.folder, join(world.home, 'runs', name)),
      'no object': (name: string) => runFile(name, '[]'),
    };
    for (const [name, make] of Object.entries(reasons)) make(name);
    const core = await world.core();
    const { 'runs.unreadable': list } = createHandlers(core);
    const before = await list({});
    expect(Object.fromEntries(before.map(({ name, reason }) => [name, reason]))).toEqual({
      '0-bytes': 'run.json is empty',
      'no-config': "run.json can't be read: file not found",
      'no-preset': 'run.json is not a run configuration: preset is missing (and 2 more problems)',
      'no object': 'its name is not a run id; use `starpo adopt`',
      'a link': 'it is a symbolic link; move the folder here, or use `starpo adopt`',
    });
    expect(() => core.runs.get('0-bytes')).toThrow(
      expect.objectContaining({ code: 'run_unreadable', message: expect.stringContaining(': run.json is empty.') }),
    );
    await core.supervisor.scanNow();
    const changed = nextNotice(core, 'unreadable');
    writeFileSync(join(world.home, 'runs/0-bytes/run.json'), JSON.stringify(baseConfig));
    await changed;
    expect(core.runs.get('0-bytes')).toMatchObject({ status: 'created' });
    expect((await list({})).map(({ name }) => name)).not.toContain('0-bytes');
  });

  test('publishes a checkpoint when it is written', async () => {
    const folder = world.run(id, [journal.started(0), journal.checkpoint(1, 0)]);
    const core = await world.core();
    const published = collectNotices(core, 'checkpoints');
    appendFileSync(join(folder, 'events.jsonl'), `${journal.checkpoint(2, 20)}\n`);
    await core.supervisor.refresh(id);
    expect(published).toEqual([{ runId: id, written: 20 }]);
  });

  test('the log contains user-facing events and events of unknown types', async () => {
    const folder = world.run(id, [
      journal.started(0),
      journal.phase(1),
      journal.iteration(2, 1),
      journal.other(3),
      journal.checkpoint(4, 1),
    ]);
    const core = await world.core();
    const published = collectNotices(core, 'log');
    const more = [journal.checkpointStateRemoved(5, 0), journal.stopped(6, 1, 'tea time')];
    appendFileSync(join(folder, 'events.jsonl'), more.map((line) => `${line}\n`).join(''));
    await untilRun(core, id, ({ status }) => status === 'stopped');
    const log = readLog(core.database, id);
    expect(log.map(({ seq }) => seq)).toEqual([0, 3, 5, 6]);
    expect(log.map(({ message }) => message)).toMatchObject([
      expect.stringContaining('Started'),
      'weather: {"sunny":true}',
      expect.stringMatching(/optimizer state of checkpoint 0/),
      'Ended after iteration 1: tea time.',
    ]);
    expect(published.map(({ line }) => line.message)).toEqual(log.slice(2).map(({ message }) => message));
  });

  test('ignores a repeated event', async () => {
    world.run(id, [journal.started(0), journal.iteration(1, 1, 0.5), journal.iteration(1, 1, 0.9)]);
    expect(success(await world.core())).toMatchObject({ values: [0.5] });
  });

  test('a resumed run drops the metrics after its checkpoint and keeps every event', async () => {
    const folder = world.run(id, [
      journal.started(0),
      journal.evaluation(1, 0, 0.4),
      journal.iteration(2, 1),
      journal.iteration(3, 2),
      journal.rollout(4, 3),
      journal.iteration(5, 3),
      journal.evaluation(6, 3, 0.5),
    ]);
    const core = await world.core();
    const published: unknown[] = [];
    core.notices.on((name, payload) => {
      if (name === 'metrics' || name === 'rollout') published.push(payload);
    });
    const lines = [
      journal.started(7, { checkpoint: 'checkpoints/000001', iteration: 1 }),
      journal.rollout(8, 2),
      journal.iteration(9, 2, 0.7),
    ];
    appendFileSync(join(folder, 'events.jsonl'), lines.map((line) => `${line}\n`).join(''));
    await core.supervisor.refresh(id);
    expect(success(core)).toMatchObject({ iterations: [1, 2], values: [0.1, 0.7] });
    expect(readSeries(core.database, id, ['evaluation/frozen-lake/success_rate'])[0]).toMatchObject({
      iterations: [0],
    });
    const replayed = { iteration: 2, split: 'train', episodes: 128 };
    expect(listRollouts(core.database, id)).toEqual([replayed]);
    expect(seqs(core)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // The truncation must come first, or clients would drop the new points.
    expect(published).toEqual([
      { runId: id, truncateAfter: 1, points: [] },
      { runId: id, file: replayed },
      {
        runId: id,
        truncateAfter: null,
        points: [{ iteration: 2, metrics: { 'rollout/success_rate': 0.7 }, time: expect.any(Number) }],
      },
    ]);
  });

  test('a stopped run that is resumed is running again', async () => {
    const lines = [journal.started(0), journal.stopped(1, 0, 'early_stop', 'nothing is learned')];
    const folder = world.run(id, lines);
    const core = await world.core();
    expect(core.runs.get(id)).toMatchObject({ status: 'stopped', stopReason: 'Nothing is learned.' });
    appendFileSync(
      join(folder, 'events.jsonl'),
      `${journal.started(2, { checkpoint: 'checkpoints/000000', iteration: 0 })}\n`,
    );
    expect(await untilRun(core, id, (run) => run.status === 'running')).toMatchObject({
      ...{ endedAt: null, stopReason: null },
    });
  });

  test('the training time of a run excludes pauses and the time between interruption and resume', async () => {
    world.run(id, [
      journal.started(0),
      journal.iteration(10, 1),
      journal.paused(11, 1),
      journal.resumed(1011, 1),
      journal.iteration(1020, 2),
      // Killed and resumed the next day.
      journal.started(90_000, { checkpoint: 'checkpoints/000001', iteration: 1 }),
      journal.iteration(90_010, 2),
      journal.stopped(90_012, 2),
    ]);
    const core = await world.core();
    expect(core.runs.get(id).trainingSeconds).toBe(11 + 9 + 12);
  });

  test('a fork starts at the iteration of its checkpoint', async () => {
    const folder = world.run(id, [journal.started(0, null, 50)]);
    const core = await world.core();
    expect(core.runs.get(id).iteration).toBe(50);
    appendFileSync(join(folder, 'events.jsonl'), `${journal.iteration(1, 51)}\n`);
    await untilRun(core, id, (run) => run.iteration === 51);
  });

  test('a run whose evaluations fell below half of their peak is shown as collapsed until it recovers', async () => {
    const folder = world.run(id, [
      journal.started(0),
      journal.evaluation(1, 0, 0.2),
      journal.evaluation(2, 10, 0.5),
      journal.evaluation(3, 20, 0.26),
    ]);
    const core = await world.core();
    expect(core.runs.get(id).collapse).toBeNull();
    appendFileSync(join(folder, 'events.jsonl'), `${journal.iteration(4, 25)}\n${journal.evaluation(5, 30, 0.1)}\n`);
    await untilRun(core, id, (run) => run.collapse !== null);
    expect(core.runs.get(id).collapse).toEqual({
      peak: { iteration: 10, success: 0.5 },
      last: { iteration: 30, success: 0.1 },
      warnedAt: null,
    });
    appendFileSync(join(folder, 'events.jsonl'), `${journal.evaluation(6, 40, 0.3)}\n`);
    await untilRun(core, id, (run) => run.collapse === null);
  });

  test('without evaluations, collapse is determined from means over ten rollouts', async () => {
    const levels = [...Array.from({ length: 10 }, () => 0.4), ...Array.from({ length: 10 }, () => 0.1)];
    world.run(id, [
      journal.started(0),
      ...levels.map((value, index) => journal.iteration(index + 1, index + 1, value)),
    ]);
    const { collapse } = (await world.core()).runs.get(id);
    expect(collapse?.peak.iteration).toBe(10);
    expect(collapse?.last.iteration).toBe(20);
    expect(collapse?.last.success).toBeCloseTo(0.1);
  });

  test('collapse read from new iterations equals a full read, also after a rewind', async () => {
    const success = (iteration: number) => (iteration < 15 ? 0.4 + (iteration % 7) / 100 : 0.1);
    const iterations = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index).map((at) =>
        journal.iteration(100 + at, at, success(at)),
      );
    const steps = [
      iterations(1, 14),
      iterations(15, 19),
      iterations(20, 26),
      [journal.evaluation(150, 26, 0.5)],
      [journal.started(151, { checkpoint: 'checkpoints/000020', iteration: 20 })],
      [journal.evaluation(152, 20, 0.6), journal.evaluation(153, 21, 0.2)],
    ];
    const folder = world.run(id, [journal.started(0)]);
    const core = await world.core();
    const collapses = [];
    for (const lines of steps) {
      appendFileSync(join(folder, 'events.jsonl'), lines.map((line) => `${line}\n`).join(''));
      await core.supervisor.refresh(id);
      const { collapse } = core.runs.get(id);
      collapses.push(collapse?.last.iteration ?? null);
      const full = new CollapseReader(core.database, id).read();
      expect(collapse).toEqual(full && { ...full, last: { ...full.last, success: expect.closeTo(full.last.success) } });
    }
    expect(collapses).toEqual([null, null, 26, 26, null, 21]);
  });

  test('does not read iterations again to find a collapse', async () => {
    world.run(id, [
      journal.started(0),
      ...[0.4, 0.6, 0.5, 0.1].map((value, index) => journal.evaluation(index + 1, index, value)),
    ]);
    await world.core();
    await world.end();
    const database = openDatabase(world.home);
    const reader = new CollapseReader(database, id);
    const collapse = reader.read();
    expect(collapse?.peak).toEqual({ iteration: 1, success: 0.6 });
    database.prepare('DELETE FROM metrics WHERE run = ? AND iteration < 2').run(id);
    expect(reader.read()).toEqual(collapse);
    reader.reset();
    expect(reader.read()?.peak.iteration).toBe(2);
    database.close();
  });

  test('is equal after a rebuild and in a copy of the data folder', async () => {
    world.run(id, [
      journal.started(0),
      journal.iteration(1, 1),
      'garbage',
      journal.rollout(2, 1),
      journal.evaluation(3, 1, 0.5),
    ]);
    world.run('other-run', [journal.started(0), journal.log(1, 'hello'), journal.stopped(2, 0)]);
    const core = await world.core();
    const before = dump(core);
    await core.supervisor.rebuild();
    expect(dump(core)).toEqual(before);

    const copy = new World();
    try {
      world.copyRunsTo(copy);
      expect(dump(await copy.core())).toEqual(before);
    } finally {
      await copy.close();
    }
  });

  test('lists every run during a rebuild', async () => {
    // Enough runs for a read between two of them on any machine.
    const names = Array.from({ length: 40 }, (_, index) => `run-${index}`);
    for (const name of names) world.run(name, [journal.started(0), journal.iteration(1, 1)]);
    const core = await world.core();
    let done = false;
    const rebuilding = core.supervisor.rebuild().finally(() => {
      done = true;
    });
    const seen: number[] = [];
    while (!done) {
      seen.push(core.runs.list().filter((run) => run.iteration === 1).length);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await rebuilding).toMatchObject({ runs: names.length, events: 2 * names.length });
    expect(new Set(seen)).toEqual(new Set([names.length]));
  });

  test('reads a replaced journal from the start', async () => {
    const folder = world.run(id, [journal.started(0), journal.iteration(1, 1), journal.iteration(2, 2)]);
    const core = await world.core();
    writeFileSync(join(folder, 'events.jsonl'), `${journal.started(0)}\n`);
    const published = collectNotices(core, 'metrics');
    await core.supervisor.refresh(id);
    expect(seqs(core)).toEqual([0]);
    expect(success(core)).toBeUndefined();
    appendFileSync(join(folder, 'events.jsonl'), `${journal.iteration(1, 1, 0.5)}\n`);
    await core.supervisor.refresh(id);
    expect(published).toContainEqual({ runId: id, truncateAfter: -1, points: [] });
    expect(published.at(-1)).toMatchObject({
      points: [{ iteration: 1, metrics: { 'rollout/success_rate': 0.5 } }],
    });
  });

  test('a run restarted from iteration 0 drops all earlier metrics', async () => {
    world.run(id, [
      journal.started(0),
      journal.evaluation(1, 0, 0.4),
      journal.iteration(2, 1),
      journal.iteration(3, 2),
      journal.started(4),
      journal.iteration(5, 1, 0.9),
    ]);
    const core = await world.core();
    expect(success(core)).toMatchObject({ iterations: [1], values: [0.9] });
    expect(core.runs.get(id).iteration).toBe(1);
    expect(core.runs.get(id).latest).not.toHaveProperty('evaluation/frozen-lake/success_rate');
  });

  test('removes runs whose folder was deleted and adds new folders', async () => {
    const folder = world.run(id, [journal.started(0)]);
    const first = await world.core();
    world.run('late-run', [journal.started(0), journal.stopped(1, 0)]);
    await untilRun(first, 'late-run', (run) => run.status === 'completed');
    const removed = nextNotice(first, 'removed');
    rmSync(folder, { recursive: true });
    expect(await removed).toEqual({ runId: id });
    expect(first.runs.list().map((run) => run.id)).toEqual(['late-run']);
    await first.dispose();
    const second = await world.core();
    expect(second.runs.list().map((run) => run.id)).toEqual(['late-run']);
  });

  test('rejects a data folder that is a file or has an invalid database', () => {
    const file = join(world.folder, 'file');
    writeFileSync(file, '');
    expect(() => openDatabase(file)).toThrowError(expect.objectContaining({ code: 'data_folder_unusable' }));
    writeFileSync(databaseFile(world.home), 'text that is long enough to be a database, but is not one');
    expect(() => openDatabase(world.home)).toThrowError(expect.objectContaining({ code: 'data_folder_unusable' }));
  });
});
