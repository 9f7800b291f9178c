import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Alert } from '../../core/contract/contract.ts';
import { echoTrap } from '../../core/contract/echo-trap.ts';
import { fittedFile, shippedCalibration } from '../../core/echo-trap/calibration.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import type { Point } from '../../core/echo-trap/track.ts';
import { databaseFile } from '../../core/history/files.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import * as journal from './fixtures/journal.ts';
import { holdAt, iterations, play, preset, small, untilAlerts } from './fixtures/played.ts';
import { seriesOf } from './fixtures/trap-series.ts';
import { collectNotices, untilRun, World } from './fixtures/world.ts';

const alarming = ['warning', 'collapsing', 'collapsed'];
const shown = (alerts: readonly Alert[]) => alerts.map(({ id, iteration, level }) => ({ id, iteration, level }));

describe('the Echo Trap monitor', { timeout: 120_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World({ thread: true });
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });
  const raisedLines = (runId: string) =>
    readFileSync(join(world.home, 'runs', runId, 'annotations.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ state }) => state === 'raised');

  test('does not write into a run of a newer version', async () => {
    const events = seriesOf('chaos', { iterations }).map(({ iteration, metrics }, seq) =>
      JSON.stringify({ v: 1, seq: seq + 1, time: seq + 1, type: 'iteration', iteration, metrics }),
    );
    const config = { ...baseConfig, preset, task: 'reinforce' };
    for (const [id, version] of [
      ['newer', 99],
      ['own', config.version],
    ] as const)
      writeFileSync(
        join(world.run(id, [journal.started(0), ...events]), 'run.json'),
        JSON.stringify({ ...config, version }),
      );
    const core = await world.core();
    await core.supervisor.rebuild();
    expect((await untilAlerts(core, 'own', (all) => all.length > 0)).length).toBeGreaterThan(0);
    expect(core.runs.get('newer')).toMatchObject({ iteration: iterations, trap: null });
    expect(existsSync(join(world.home, 'runs/newer/annotations.jsonl'))).toBe(false);
  });

  test('raises each alert once: live, after a restart, after a rebuild, and from the run folder alone', async () => {
    const monitor = play(world, 'chaos');
    const alone = monitor.alerts;
    const warning = alone.find(({ level }) => level === 'warning')!;
    holdAt(warning.iteration - 20);
    let core = await world.core();
    const runId = await core.runs.create({ preset, set: small });
    await core.runs.start(runId);
    await untilRun(core, runId, ({ iteration }) => iteration === warning.iteration - 20);
    expect(core.runs.get(runId).trap).toEqual({ state: 'healthy', since: 0 });
    await core.dispose();

    core = await world.core();
    const published = collectNotices(core, 'echoTrap');
    await core.runs.command(runId, 'checkpoint');
    await untilRun(core, runId, ({ status }) => status === 'completed');
    const alerts = await untilAlerts(core, runId, (all) => all.length === alone.length);
    expect(shown(alerts).sort((a, b) => a.iteration - b.iteration)).toEqual(
      alone.map(({ id, iteration, level }) => ({ id, iteration, level })),
    );
    await untilRun(core, runId, ({ trap }) => trap?.state === monitor.view()!.state);
    const state = (await core.supervisor.trap(runId))!;
    expect(echoTrap.parse(state)).toEqual(state);
    expect(state).toMatchObject({ state: monitor.view()!.state, iteration: iterations });
    expect(published.length).toBeGreaterThan(0);

    await core.supervisor.rebuild();
    expect(await core.supervisor.trap(runId)).toEqual(state);
    expect(core.annotations.alerts(runId)).toEqual(alerts);
    await core.dispose();
    world.deleteHistory();
    core = await world.core();
    expect(await core.supervisor.trap(runId)).toEqual(state);
    expect(core.annotations.alerts(runId)).toEqual(alerts);
    expect(raisedLines(runId).map(({ alert }) => alert)).toEqual(alone.map(({ id }) => id));
    expect(world.logged).toEqual([]);
  });

  test('answers before the run history is closed', async () => {
    const folder = world.run('one', [journal.started(0)]);
    const core = await world.core();
    // Without a subscriber, the view is not requested.
    core.notices.on(() => {});
    const { history } = core;
    const requested = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<null>();
    vi.spyOn(history, 'trap').mockImplementation(() => {
      requested.resolve();
      return answer.promise;
    });
    const close = vi.spyOn(history, 'close');
    appendFileSync(join(folder, 'events.jsonl'), `${journal.iteration(1, 1)}\n`);
    await core.supervisor.refresh('one');
    await requested.promise;
    const disposed = core.dispose();
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    expect(close).not.toHaveBeenCalled();
    answer.resolve(null);
    await disposed;
    expect(close).toHaveBeenCalledOnce();
    expect(world.logged).toEqual([]);
  });

  test('resuming a run before an alert removes the alert, which can be raised again', async () => {
    play(world, 'chaos');
    const points = JSON.parse(readFileSync(join(world.folder, 'series.json'), 'utf8'));
    const monitor = new Monitor(baseConfig);
    monitor.addAll(points);
    const alone = monitor.alerts;
    const folder = world.run('again', [journal.started(0)]);
    const core = await world.core();
    let seq = 1;
    const write = (upTo: number, from = 1) => {
      const lines = points
        .slice(from - 1, upTo)
        .map(({ iteration, metrics }: { iteration: number; metrics: object }) => {
          const event = { v: 1, seq: seq++, time: Date.now(), type: 'iteration', iteration, metrics };
          return `${JSON.stringify(event)}\n`;
        });
      appendFileSync(join(folder, 'events.jsonl'), lines.join(''));
    };
    const watch = alone[0]!.iteration;
    write(watch);
    await core.supervisor.refresh('again');
    expect(shown(core.annotations.alerts('again'))).toEqual(shown(alone.slice(0, 1) as unknown as Alert[]));
    const before = watch - 5;
    const resume = { checkpoint: `checkpoints/${String(before).padStart(6, '0')}`, iteration: before };
    // Time passes between an alert and the trainer that withdraws it.
    while (Date.now() <= core.annotations.alerts('again')[0]!.raisedAt) await setImmediate();
    const started = { ...JSON.parse(journal.started(seq++, resume)), time: Date.now() };
    appendFileSync(join(folder, 'events.jsonl'), `${JSON.stringify(started)}\n`);
    await core.supervisor.refresh('again');
    expect(core.annotations.alerts('again')).toEqual([]);
    expect(await core.supervisor.trap('again')).toMatchObject({ state: 'healthy', iteration: before });
    write(watch, before + 1);
    await core.supervisor.refresh('again');
    expect(core.annotations.alerts('again')).toHaveLength(1);
    await core.supervisor.rebuild();
    expect(core.annotations.alerts('again')).toHaveLength(1);
    expect(raisedLines('again')).toHaveLength(2);
  });

  test("a fork is measured against its parents' baseline at the time of the fork, even if the parents are deleted", async () => {
    const points = seriesOf('template', { fall: 140 }).filter(({ iteration }) => iteration > 0);
    const [first, second] = [40, 80];
    const part = (from: number, to: number) => points.filter(({ iteration }) => iteration > from && iteration <= to);
    const folder = (id: string) => join(world.home, 'runs', id);
    /** Writes events as a trainer would, and a checkpoint to resume from. */
    const train = (id: string, own: readonly Point[], checkpoint: number, from = 0) => {
      const lines = own.map(({ iteration, metrics }) =>
        JSON.stringify({ v: 1, seq: iteration, time: iteration, type: 'iteration', iteration, metrics }),
      );
      const all = [journal.started(from, null, from), ...lines];
      writeFileSync(join(folder(id), 'events.jsonl'), all.map((line) => `${line}\n`).join(''));
      const at = join(folder(id), 'checkpoints', String(checkpoint).padStart(6, '0'));
      mkdirSync(at, { recursive: true });
      for (const file of ['config.json', 'tokenizer.json', 'model.safetensors']) writeFileSync(join(at, file), '{}');
    };
    const reference = new Monitor(baseConfig);
    reference.addAll(points);
    const alone = new Monitor(baseConfig);
    alone.addAll(part(second, 200));
    expect(alone.alarms).not.toEqual(reference.alarms);
    const warnings = (runId: string) =>
      raisedLines(runId)
        .filter(({ level }) => level === 'warning')
        .map(({ iteration }) => iteration);

    world.run('parent');
    train('parent', points, first);
    let core = await world.core();
    const fork = (run: string, checkpoint: number, id: string, set = {}) =>
      core.runs.create({ run, checkpoint, keepOptimizer: false, set }, id);
    await fork('parent', first, 'fork');
    train('fork', part(first, 200), second, first);
    await core.supervisor.refresh('fork');
    await fork('fork', second, 'fork-of-fork');
    // Its environment differs, so the parents' baseline doesn't apply.
    await fork('fork', second, 'other', { 'rollout.temperature': 0.5 });
    expect(existsSync(join(folder('other'), 'fork-baseline.json'))).toBe(false);
    for (const id of ['fork-of-fork', 'other']) train(id, part(second, 120), 120, second);
    for (const id of ['fork-of-fork', 'other']) await core.supervisor.refresh(id);
    const firstAlarm = reference.alarms[0]!;
    expect(firstAlarm).toBeGreaterThan(120);

    // The parents are deleted and the app restarts before the alert.
    await core.dispose();
    for (const id of ['fork', 'parent']) rmSync(folder(id), { recursive: true });
    core = await world.core();
    for (const id of ['fork-of-fork', 'other']) {
      train(id, part(second, 200), 120, second);
      await core.supervisor.refresh(id);
    }
    expect(warnings('fork-of-fork')).toEqual(reference.alarms);
    expect(warnings('other')).toEqual(alone.alarms);
    const state = (await core.supervisor.trap('fork-of-fork'))!;
    expect(state.history[0]).toEqual({ iteration: second + 1, state: 'healthy' });
    await core.supervisor.rebuild();
    expect(await core.supervisor.trap('fork-of-fork')).toEqual(state);
    expect(warnings('fork-of-fork')).toEqual(reference.alarms);
    // An unreadable file counts as missing.
    await core.dispose();
    writeFileSync(join(folder('fork-of-fork'), 'fork-baseline.json'), '{"version": 1, "points": [{"iteration": "x"}]}');
    core = await world.core();
    await core.supervisor.rebuild();
    expect((await core.supervisor.trap('fork-of-fork'))!.history).toEqual(alone.view()!.history);
    expect(world.logged).toEqual([]);
  });

  test("a roll-back is offered only if its checkpoint leaves iterations after the critic's warm-up", async () => {
    const points = seriesOf('template', { fall: 140 }).filter(({ iteration }) => iteration > 0);
    const lines = points.map(({ iteration, metrics }) =>
      JSON.stringify({ v: 1, seq: iteration, time: iteration, type: 'iteration', iteration, metrics }),
    );
    const monitor = new Monitor(baseConfig);
    monitor.addAll(points);
    const lastHealthy = monitor.view()!.lastHealthy!;
    const before = lastHealthy - 10;
    const iterations = 200;
    /** `latest` is the last checkpoint that leaves an iteration in which the policy is trained. */
    const offered = async (id: string, latest: number, checkpoints: readonly number[]) => {
      const folder = world.run(id, [journal.started(0), ...lines]);
      const critic = { ...baseConfig.critic, model: 'full', warmup: iterations - 1 - latest };
      writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...baseConfig, iterations, critic }));
      for (const iteration of checkpoints) {
        const checkpoint = join(folder, 'checkpoints', String(iteration).padStart(6, '0'));
        mkdirSync(checkpoint, { recursive: true });
        writeFileSync(join(checkpoint, 'model.safetensors'), '');
      }
      await core.supervisor.add(id);
      const { advice } = (await core.supervisor.trap(id))!;
      return advice.find(({ id: which }) => which === 'gentler_rate')!;
    };
    const core = await world.core();
    expect(await offered('far', before, [0, before, lastHealthy + 5])).toMatchObject({
      acts: true,
      reason: null,
    });
    expect(await offered('near', before, [0, before, lastHealthy])).toMatchObject({
      acts: false,
      preferred: false,
      reason: 'No iterations would be left to train the policy.',
    });
    expect(await offered('none', before, [lastHealthy + 5])).toMatchObject({
      acts: false,
      reason: `No checkpoint exists at or before iteration ${lastHealthy}.`,
    });
  });

  test('evaluates runs indexed by a version without it, and ignores warm starts', async () => {
    play(world, 'dead');
    const points = JSON.parse(readFileSync(join(world.folder, 'series.json'), 'utf8')).slice(0, 30);
    const lines = points.map(({ iteration, metrics }: { iteration: number; metrics: object }) =>
      JSON.stringify({ v: 1, seq: iteration, time: iteration, type: 'iteration', iteration, metrics }),
    );
    world.run('old', [journal.started(0), ...lines, journal.stopped(31, 30)]);
    const warm = world.run('warm', [journal.started(0), ...lines, journal.stopped(31, 30)]);
    const config = JSON.parse(readFileSync(join(warm, 'run.json'), 'utf8'));
    writeFileSync(join(warm, 'run.json'), JSON.stringify({ ...config, task: 'warm_start' }));
    await (await world.core()).dispose();
    const database = new Database(databaseFile(world.home));
    database.exec('DELETE FROM echo_trap');
    database.close();
    const core = await world.core();
    const handlers = createHandlers(core);
    expect(alarming).toContain((await handlers['echoTrap.state']({ runId: 'old' }))!.state);
    expect(await handlers['echoTrap.state']({ runId: 'warm' })).toBeNull();
    expect(core.annotations.alerts('warm')).toEqual([]);
    expect(new Set(raisedLines('old').map(({ alert }) => alert)).size).toBe(raisedLines('old').length);
  });

  test('reports invalid thresholds once and uses the defaults', async () => {
    world.run('one', [journal.started(0), journal.iteration(1, 1)]);
    writeFileSync(fittedFile(world.home), '{"version": 1');
    const core = await world.core();
    expect(world.logged).toEqual([expect.stringContaining('echo-trap.json')]);
    expect((await core.supervisor.trap('one'))!.calibration).toEqual(shippedCalibration.about);
    await core.dispose();
    const about = { source: 'fitted', models: ['mine'], runs: 9, note: 'made here' };
    const fitted = { version: 1, calibration: about, thresholds: shippedCalibration.thresholds };
    writeFileSync(fittedFile(world.home), JSON.stringify(fitted));
    const next = await world.core();
    appendFileSync(join(world.home, 'runs/one/events.jsonl'), `${journal.iteration(2, 2)}\n`);
    await next.supervisor.refresh('one');
    expect((await next.supervisor.trap('one'))!.calibration).toEqual(about);
    expect(world.logged).toHaveLength(1);
  });

  test('computes the state of runs in a newer run history without writing', async () => {
    play(world, 'dead');
    const points = JSON.parse(readFileSync(join(world.folder, 'series.json'), 'utf8')).slice(0, 30);
    const lines = points.map(({ iteration, metrics }: { iteration: number; metrics: object }) =>
      JSON.stringify({ v: 1, seq: iteration, time: iteration, type: 'iteration', iteration, metrics }),
    );
    const folder = world.run('old', [journal.started(0), ...lines, journal.stopped(31, 30)]);
    await (await world.core()).dispose();
    rmSync(join(folder, 'annotations.jsonl'));
    const database = new Database(databaseFile(world.home));
    database.exec('DELETE FROM echo_trap');
    database.pragma('user_version = 999');
    database.close();
    const core = await world.core(undefined, { backgroundWork: true });
    expect(alarming).toContain((await core.supervisor.trap('old'))!.state);
    expect(() => readFileSync(join(folder, 'annotations.jsonl'))).toThrow('ENOENT');
  });
});
