import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pinRollbackCheckpoints, rollbackCheckpoints } from '../../core/alert-actions/pins.ts';
import type { AlertAction, KnownAction, RunSummary } from '../../core/contract/contract.ts';
import { isAlarm } from '../../core/contract/trap-words.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import { readActions } from '../../core/history/annotations.ts';
import type { Core, CoreOptions } from '../../core/index.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { findPreset } from '../../core/presets/presets.ts';
import { appendAnnotation } from '../../core/run-directory/annotations.ts';
import { appendCommand } from '../../core/run-directory/control.ts';
import { rollbacksBefore } from '../../core/runs/fork-ancestors.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { starpoHere } from './fixtures/command.ts';
import { holdAt, iterations, play, preset, small, untilAlerts } from './fixtures/played.ts';
import { seriesOf } from './fixtures/trap-series.ts';
import { untilRun, World } from './fixtures/world.ts';

describe('automatic actions', { timeout: 120_000 }, () => {
  let world: World;
  let core: Core;
  let alone: Monitor;
  let warning: number;
  beforeEach(() => {
    world = new World();
    alone = play(world, 'chaos');
    warning = alone.alerts.find(({ level }) => level === 'warning')!.iteration;
    // Forks stay healthy, so that they raise no alert, however fast they run.
    const healthy = seriesOf('healthy', { iterations: 300 }).filter(({ iteration }) => iteration > 0);
    const file = join(world.folder, 'healthy.json');
    writeFileSync(file, JSON.stringify(healthy));
    vi.stubEnv('FAKE_TRAINER_FORK_SERIES', file);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });
  const startRun = async (automaticAction: string, options: Partial<CoreOptions> = {}, every = 5) => {
    core = await world.core(undefined, { backgroundWork: true, ...options });
    const set = { ...small, automatic_action: automaticAction, 'checkpoint.every': every };
    const runId = await core.runs.create({ preset, set });
    await core.runs.start(runId);
    return runId;
  };
  /** Resolves with the action on the alert once it has ended. */
  const untilActionEnded = async (runId: string): Promise<AlertAction> => {
    const isOver = ({ action }: { action: AlertAction | null }) => action !== null && action.state !== 'begun';
    const alerts = await untilAlerts(core, runId, (all) => all.some(isOver));
    return alerts.find(isOver)!.action!;
  };
  const folder = (runId: string) => join(world.home, 'runs', runId);
  const configOf = (runId: string) => JSON.parse(readFileSync(join(folder(runId), 'run.json'), 'utf8'));
  const startCount = (runId: string) =>
    readFileSync(join(folder(runId), 'events.jsonl'), 'utf8').match(/"type":"started"/g)!.length;

  test.each([
    ['pause', 'paused'],
    ['stop', 'stopped'],
  ] as const)('with the automatic action %s a run is %s', async (kind, status) => {
    holdAt(warning);
    const runId = await startRun(kind);
    const done = await untilActionEnded(runId);
    expect(done).toMatchObject({ kind, by: 'monitor', state: 'done', fork: null });
    const run = await untilRun(core, runId, (each) => each.status === status);
    expect(run).toMatchObject({ iteration: warning, trap: { state: 'warning', since: warning } });
    expect(run.lastAction).toEqual(done);
    const levels = core.annotations.alerts(runId).map(({ level }) => level);
    expect(levels.filter((level) => level !== 'watch')).toEqual(['warning']);
    if (status === 'paused') await core.runs.command(runId, 'stop');
  });

  test('an alert that ended while no process acted on it is ignored', async () => {
    const healthy = seriesOf('healthy', { iterations });
    const points = seriesOf('chaos', { iterations })
      .filter(({ iteration }) => iteration > 0)
      .map((point) =>
        point.iteration <= warning ? point : healthy.find(({ iteration }) => iteration === point.iteration)!,
      );
    writeFileSync(join(world.folder, 'series.json'), JSON.stringify(points));
    holdAt(iterations - 1);
    const runId = await startRun('stop', { backgroundWork: false });
    await untilRun(core, runId, ({ iteration }) => iteration === iterations - 1);
    await untilRun(core, runId, ({ trap }) => trap !== null && !isAlarm(trap.state));
    expect(core.annotations.alerts(runId).map(({ level }) => level)).toContain('warning');
    await core.dispose();
    core = await world.core(undefined, { backgroundWork: true });
    await core.runs.command(runId, 'checkpoint');
    await untilRun(core, runId, ({ status }) => status === 'completed');
    expect(core.runs.get(runId).lastAction).toBeNull();
  });

  test('a run that only notifies continues', async () => {
    const runId = await startRun('notify');
    await untilRun(core, runId, ({ status }) => status === 'completed');
    const alerts = await untilAlerts(core, runId, (all) => all.length === alone.alerts.length);
    expect(alerts.map(({ action }) => action)).toEqual(alerts.map(() => null));
  });

  test('a run is rolled back to its last healthy checkpoint and continues with the recommended change', async () => {
    holdAt(warning);
    const runId = await startRun('rollback');
    const done = await untilActionEnded(runId);
    const { lastHealthy } = (await core.supervisor.trap(runId))!;
    const checkpoint = lastHealthy! - (lastHealthy! % 5);
    const rate = configOf(runId).optimizer.learning_rate;
    const changes = [{ path: 'optimizer.learning_rate', value: Number((rate / 3).toPrecision(2)) }];
    expect(done).toMatchObject({ kind: 'rollback', by: 'monitor', state: 'done', checkpoint, changes });
    expect(done.message).toBe(`Rolled back to iteration ${checkpoint}, with “Learning rate” at ${changes[0]!.value}.`);
    expect(core.runs.get(runId)).toMatchObject({ status: 'stopped', iteration: warning, lastAction: done });
    const fork = await untilRun(core, done.fork!, ({ status }) => status === 'completed');
    expect(fork).toMatchObject({ parent: { run: runId, iteration: checkpoint }, iterations });
    const { start, optimizer, automatic_action } = configOf(fork.id);
    expect(start).toMatchObject({ run: runId, checkpoint, keep_optimizer: false });
    expect({ rate: optimizer.learning_rate, automatic_action }).toEqual({
      rate: changes[0]!.value,
      automatic_action: 'rollback',
    });
    const pinned = readdirSync(join(folder(runId), 'checkpoints')).filter((name) =>
      existsSync(join(folder(runId), 'checkpoints', name, 'pinned')),
    );
    expect(pinned.map(Number)).toContain(checkpoint);
    expect(pinned.length).toBeLessThanOrEqual(5);
    await core.supervisor.rebuild();
    expect(core.runs.get(runId).lastAction).toEqual(done);
    expect(core.runs.get(fork.id).parent).toEqual(fork.parent);
    expect(core.runs.get(fork.id).name).toMatch(/, rolled back to \d+, LR /);
  });

  test('the number of roll-backs is inherited by forks, even if the parents are deleted', async () => {
    holdAt(warning);
    const runId = await startRun('rollback');
    const { fork } = await untilActionEnded(runId);
    await untilRun(core, fork!, ({ status }) => status === 'completed');
    const count = (id: string) => rollbacksBefore(core.database, id, folder);
    expect([count(runId), count(fork!)]).toEqual([0, 1]);
    const checkpoint = iterations;
    const manual = await core.runs.create({
      run: fork!,
      checkpoint,
      keepOptimizer: false,
      set: { iterations: 300 },
    });
    const ofParent = await core.runs.create({ run: runId, checkpoint: 5, keepOptimizer: false });
    // A sweep forks from a whole configuration. A new run with the fork's settings inherits nothing.
    const ofConfig = await core.runs.create({ config: configOf(manual) });
    const { start } = findPreset(preset).config;
    const newRun = await core.runs.create({
      config: { ...configOf(fork!), start, parent: { run: fork!, iteration: 0 } },
    });
    expect([manual, ofParent, ofConfig, newRun].map(count)).toEqual([1, 0, 1, 0]);
    await core.runs.start(manual);
    await untilRun(core, manual, ({ status }) => status === 'completed');
    expect((await core.trash.delete([ofParent, newRun, ofConfig, runId, fork!])).refused).toEqual([]);
    expect(count(manual)).toBe(1);
  });

  test('the fork gets the device before queued runs', async () => {
    holdAt(warning);
    const runId = await startRun('rollback', { worksQueue: true });
    const waiting = await core.runs.create({ preset, set: { ...small, iterations: 1 } });
    core.queue.add(waiting);
    const { fork } = await untilActionEnded(runId);
    const { startedAt } = await untilRun(core, waiting, ({ status }) => status === 'completed');
    expect(core.runs.get(fork!)).toMatchObject({ status: 'completed' });
    expect(core.runs.get(fork!).startedAt).toBeLessThan(startedAt!);
  });

  test.each([
    [
      'its checkpoints are gone',
      'No checkpoint exists at or before iteration 98.',
      0,
      (checkpoints: string) => rmSync(checkpoints, { recursive: true }),
    ],
    [
      'the disk has no room for a fork',
      'of disk space is left',
      5,
      (checkpoints: string) => truncateSync(join(checkpoints, '000050/model.safetensors'), 8e12),
    ],
  ])('a run is paused if %s', async (_, reason, every, breakCheckpoints) => {
    holdAt(60);
    vi.stubEnv('FAKE_TRAINER_DELAY', '10');
    const runId = await startRun('rollback', {}, every);
    await untilRun(core, runId, ({ iteration }) => iteration === 60);
    breakCheckpoints(join(folder(runId), 'checkpoints'));
    // The run isn't paused, so this only releases the stand-in trainer.
    await core.runs.command(runId, 'resume');
    const done = await untilActionEnded(runId);
    expect(done).toMatchObject({ kind: 'pause', state: 'done', fork: null });
    expect(done.message).toMatch(/^Paused, not rolled back: /);
    expect(done.message).toContain(reason);
    expect(readdirSync(join(world.home, 'runs'))).toEqual([runId]);
    await core.runs.command(runId, 'stop');
  });

  const planned = { action: 'alert-1', alert: 'alert-1', by: 'monitor', kind: 'rollback' } as const;
  const appendRollback = (runId: string, state: KnownAction['state'], fork: string, checkpoint: number) =>
    appendAnnotation(folder(runId), {
      type: 'action',
      ...planned,
      state,
      checkpoint,
      fork,
      changes: [{ path: 'optimizer.learning_rate', value: 1e-5 }],
      message: 'Rolling back.',
    });

  /** Writes the run folder of a fork. */
  const writeFork = (id: string, run: string) => {
    world.run(id);
    const { rollout, policy_loss, checkpoint } = baseConfig;
    const config = {
      ...baseConfig,
      iterations,
      start: { ...baseConfig.start, model: join(world.resources, 'starter'), run, checkpoint: 5 },
      parent: { run, iteration: 5 },
      rollout: { ...rollout, groups: 1, group_size: 4 },
      policy_loss: { ...policy_loss, mini_batch: 4 },
      checkpoint: { ...checkpoint, every: 5 },
      automatic_action: 'rollback',
    };
    writeFileSync(join(folder(id), 'run.json'), JSON.stringify(config));
  };
  test.each([
    ['with all parents', ['first', 'second', 'third'], {}],
    ['with deleted parents', ['third'], { third: 2 }],
    ['with a deleted grandparent', ['second', 'third'], { second: 1 }],
  ])('a run after two roll-backs is paused: %s', async (_, existing, carried) => {
    const forked = seriesOf('chaos', { iterations }).filter(({ iteration }) => iteration > 5);
    const third = new Monitor(baseConfig);
    third.addAll(forked);
    writeFileSync(join(world.folder, 'healthy.json'), JSON.stringify(forked));
    vi.stubEnv('FAKE_TRAINER_FORK_HOLD', String(third.alarms[0]));
    const line = ['', 'first', 'second', 'third'];
    for (const id of existing) {
      const parent = line[line.indexOf(id) - 1]!;
      writeFork(id, parent);
      if (existing.includes(parent)) appendRollback(parent, 'done', id, 5);
    }
    for (const [id, count] of Object.entries(carried)) appendAnnotation(folder(id), { type: 'rollbacks', count });
    core = await world.core(undefined, { backgroundWork: true });
    await core.runs.start('third');
    const done = await untilActionEnded('third');
    expect(done).toMatchObject({ kind: 'pause', state: 'done' });
    expect(done.message).toMatch(
      /^Paused, not rolled back: This run is the result of 2 automatic roll-backs, the maximum/,
    );
    await core.runs.command('third', 'stop');
  });

  test.each(['before the fork', 'after creating the fork', 'after the fork completed'])(
    'a roll-back interrupted %s is completed without repeating a step',
    async (interrupted) => {
      holdAt(20);
      const runId = await startRun('notify');
      await untilRun(core, runId, ({ iteration }) => iteration === 20);
      const forkId = 'the-fork';
      const source = { run: runId, checkpoint: 10, keepOptimizer: false };
      const set = { 'optimizer.learning_rate': 1e-5 };
      if (interrupted !== 'before the fork') await core.runs.create({ ...source, set }, forkId);
      if (interrupted === 'after the fork completed') {
        await core.runs.command(runId, 'stop');
        await core.runs.start(forkId);
        await untilRun(core, forkId, ({ status }) => status === 'completed');
      }
      await core.dispose();
      appendRollback(runId, 'begun', forkId, 10);

      core = await world.core(undefined, { backgroundWork: true });
      await untilRun(core, runId, ({ lastAction }) => lastAction?.state === 'done');
      expect(await untilRun(core, forkId, ({ status }) => status === 'completed')).toMatchObject({
        parent: { run: runId, iteration: 10 },
      });
      expect(core.runs.get(runId).status).toBe('stopped');
      expect(startCount(forkId)).toBe(1);
      expect(configOf(forkId).optimizer.learning_rate).toBe(1e-5);
      expect(core.runs.list()).toHaveLength(2);
    },
  );

  test.each(['at the start', 'during the pause', 'after the pause', 'during the pause, with a checkpoint'])(
    'a roll-back without its checkpoint, interrupted %s, pauses the run',
    async (interrupted) => {
      holdAt(20);
      const runId = await startRun('rollback');
      await untilRun(core, runId, ({ iteration }) => iteration === 20);
      if (interrupted === 'after the pause') {
        await core.runs.command(runId, 'pause');
        await untilRun(core, runId, ({ status }) => status === 'paused');
      }
      await core.dispose();
      appendRollback(runId, 'begun', 'the-fork', 10);
      if (interrupted !== 'at the start')
        appendAnnotation(folder(runId), {
          type: 'action',
          ...planned,
          action: 'alert-1-pause',
          kind: 'pause',
          state: 'begun',
          checkpoint: null,
          fork: null,
          changes: [],
          message: 'Paused, not rolled back: it is gone.',
        });
      // A roll-back that was replaced by a pause isn't tried again, even if its checkpoint exists.
      if (interrupted !== 'during the pause, with a checkpoint')
        rmSync(join(folder(runId), 'checkpoints/000010'), { recursive: true });

      core = await world.core(undefined, { backgroundWork: true });
      const isOver = (run: RunSummary) => run.lastAction !== null && run.lastAction.state !== 'begun';
      const { lastAction } = await untilRun(core, runId, isOver);
      expect(lastAction).toMatchObject({
        id: 'alert-1-pause',
        kind: 'pause',
        state: 'done',
        alert: 'alert-1',
      });
      expect(lastAction!.message).toMatch(
        interrupted === 'at the start'
          ? /^Paused, not rolled back: .* no checkpoint at iteration 10/
          : /^Paused, not rolled back: it is gone\.$/,
      );
      await untilRun(core, runId, ({ status }) => status === 'paused');
      const actions = () => readActions(core.database, runId).map(({ id, kind, state }) => [id, kind, state].join(' '));
      expect(actions()).toEqual(['alert-1 rollback failed', 'alert-1-pause pause done']);
      expect(core.runs.list().map(({ id }) => id)).toEqual([runId]);
      await core.dispose();

      core = await world.core(undefined, { backgroundWork: true });
      await core.runs.command(runId, 'stop');
      expect(actions()).toEqual(['alert-1 rollback failed', 'alert-1-pause pause done']);
      const control = readFileSync(join(folder(runId), 'control.jsonl'), 'utf8');
      expect(control.match(/"pause"/g)).toHaveLength(1);
    },
  );

  test('the user applies a recommendation; a recommendation without effect is rejected', async () => {
    const runId = await startRun('notify');
    await untilRun(core, runId, ({ status }) => status === 'completed');
    await untilAlerts(core, runId, (all) => all.length === alone.alerts.length);
    const { 'echoTrap.act': act, 'echoTrap.state': stateOf } = createHandlers(core);
    const acting = (await stateOf({ runId }))!.advice.filter(({ acts }) => acts);
    expect(acting.map(({ id }) => id)).toContain('gentler_rate');
    await expect(act({ runId, adviceId: 'pause' })).rejects.toMatchObject({ code: 'advice_idle' });
    await expect(act({ runId, adviceId: 'pray' })).rejects.toMatchObject({ code: 'advice_unknown' });
    const wrong = { runId, adviceId: 'gentler_rate', alertId: 'none' };
    await expect(act(wrong)).rejects.toMatchObject({ code: 'alert_unknown' });
    const alertId = core.annotations.alerts(runId).at(-1)!.id;
    const done = await act({ runId, adviceId: 'gentler_rate', alertId });
    expect(done).toMatchObject({ by: 'user', kind: 'rollback', state: 'done', alert: alertId });
    expect(core.annotations.alerts(runId).at(-1)!.action).toEqual(done);
    await untilRun(core, done.fork!, ({ status }) => status === 'completed');
    rmSync(join(folder(runId), 'checkpoints'), { recursive: true });
    await expect(act({ runId, adviceId: 'gentler_rate' })).rejects.toMatchObject({ code: 'advice_idle' });
  });

  test('the CLI follows the fork and reports alerts and actions', async () => {
    const run = (...args: string[]) => starpoHere(args, world.environment({ FAKE_TRAINER_HOLD: String(warning) }));
    const set = Object.entries({ ...small, automatic_action: 'rollback' }).flatMap(([key, value]) => [
      '--set',
      `${key}=${value}`,
    ]);
    const { status, output } = await run('train', preset, ...set);
    expect(status).toBe(0);
    const [parent, fork] = [...output.matchAll(/^run (\S+)$/gm)].map((match) => match[1]!);
    expect(output).toMatch(/^rolled back to iteration \d+$/m);
    expect(output).toMatch(/completed after iteration 200 of 200$/);
    const listed = (await run('runs')).output;
    expect(listed).toMatch(new RegExp(`^FrozenLake .* stopped .* warning .* ${parent}$`, 'm'));
    const alerts = (await run('alerts', parent!)).output;
    expect(alerts).toContain(`Continued in ${fork}.`);
    expect(alerts).toMatch(/^iteration \d+ {2}warning, raised$/m);
    expect(alerts).toContain('gentler_rate (recommended): ');
    expect(alerts).not.toContain('  pause');
    expect(alerts).not.toMatch(/(rollout|actor|diagnostics)\//);
    expect(JSON.parse((await run('alerts', parent!, '--json')).output)).toMatchObject({
      alerts: expect.arrayContaining([
        expect.objectContaining({ level: 'warning', action: expect.objectContaining({ fork }) }),
      ]),
      echoTrap: { state: 'warning' },
    });
    expect((await run('show', fork!)).output).toMatch(new RegExp(`forked from +${parent}, iteration \\d+$`, 'm'));
    // A resumed parent is neither rolled back again nor mistaken for its fork.
    const resumed = await starpoHere(['resume', parent!], world.environment());
    expect(resumed.output).toMatch(/completed after iteration 200 of 200$/);
    expect(resumed.output).not.toContain('rolled back');
    expect((await run('alerts', parent!)).output).toMatch(/^iteration \d+ {2}collapsing, raised$/m);
    expect(JSON.parse((await run('runs', '--json')).output)).toHaveLength(2);
    expect(await run('alerts', parent!, '--take', 'pray')).toMatchObject({
      status: 1,
      errors: expect.stringContaining('advice_unknown'),
    });
  });

  test('a second click does not roll a run back twice', async () => {
    holdAt(warning);
    const runId = await startRun('notify');
    await untilAlerts(core, runId, (all) => all.some(({ level }) => level === 'warning'));
    const act = createHandlers(core)['echoTrap.act'];
    const clicks = [act({ runId, adviceId: 'gentler_rate' }), act({ runId, adviceId: 'gentler_rate' })];
    const [first, second] = await Promise.allSettled(clicks);
    expect(first).toMatchObject({ status: 'fulfilled', value: { kind: 'rollback', state: 'done' } });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'advice_idle' } });
    expect(core.runs.list()).toHaveLength(2);
    const { fork } = core.runs.get(runId).lastAction!;
    await untilRun(core, fork!, ({ status }) => status === 'completed');
    // Later the user may roll back again.
    const again = await act({ runId, adviceId: 'gentler_rate' });
    expect(again).toMatchObject({ state: 'done' });
    await untilRun(core, again.fork!, ({ status }) => status === 'completed');
  });

  test('an interrupted roll-back fails if the run was restarted', async () => {
    holdAt(20);
    const runId = await startRun('notify');
    await untilRun(core, runId, ({ iteration }) => iteration === 20);
    await core.runs.command(runId, 'stop');
    await vi.waitUntil(async () => !(await core.trainer.status(folder(runId))).running, { timeout: 60_000 });
    appendRollback(runId, 'begun', 'the-fork', 10);
    await core.runs.start(runId);
    await core.dispose();
    core = await world.core(undefined, { backgroundWork: true });
    const { lastAction } = await untilRun(core, runId, (run) => run.lastAction?.state === 'failed');
    expect(lastAction!.message).toMatch(/was restarted before this action/);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    expect(core.runs.list().map(({ id }) => id)).toEqual([runId]);
  });

  test('the user pauses a running run by a recommendation', async () => {
    holdAt(warning);
    const runId = await startRun('notify');
    await untilAlerts(core, runId, (all) => all.some(({ level }) => level === 'warning'));
    const act = createHandlers(core)['echoTrap.act'];
    expect(await act({ runId, adviceId: 'pause' })).toMatchObject({
      by: 'user',
      state: 'done',
      alert: null,
    });
    await untilRun(core, runId, ({ status }) => status === 'paused');
    const { fork } = await act({ runId, adviceId: 'gentler_rate' });
    expect(core.runs.get(runId).status).toBe('stopped');
    await untilRun(core, fork!, ({ status }) => status === 'completed');
  });
});

describe('automatic pins', () => {
  test('are on the newest checkpoints on either side of the last healthy iteration', () => {
    expect(rollbackCheckpoints([0, 10, 20, 30], 35)).toEqual([20, 30]);
    expect(rollbackCheckpoints([0, 10, 20, 30, 40, 50], 25)).toEqual([10, 20, 40, 50]);
    expect(rollbackCheckpoints([0, 10], null)).toEqual([0, 10]);
    expect(rollbackCheckpoints([], 5)).toEqual([]);
  });

  test('leave pins of the user in place and request each pin once', async () => {
    const world = new World();
    const folder = world.run('one');
    const pin = (iteration: number) =>
      writeFileSync(join(folder, 'checkpoints', String(iteration).padStart(6, '0'), 'pinned'), '');
    for (const iteration of [0, 10, 20, 30]) {
      const checkpoint = join(folder, 'checkpoints', String(iteration).padStart(6, '0'));
      mkdirSync(checkpoint, { recursive: true });
      writeFileSync(join(checkpoint, 'model.safetensors'), '');
    }
    const commands = () =>
      readFileSync(join(folder, 'control.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ command, args }) => `${command} ${args.iteration}`);
    appendCommand(folder, 'pin', { iteration: 0 });
    appendCommand(folder, 'pin', { iteration: 10, by: 'monitor' });
    pin(0);
    pin(10);
    for (let attempt = 0; attempt < 2; attempt++) pinRollbackCheckpoints(folder, null);
    expect(commands()).toEqual(['pin 0', 'pin 10', 'pin 20', 'pin 30', 'unpin 10']);
    // A damaged line is skipped.
    appendFileSync(join(folder, 'control.jsonl'), 'garbage\n');
    pin(20);
    pinRollbackCheckpoints(folder, null);
    expect(readFileSync(join(folder, 'control.jsonl'), 'utf8').split('\n')).toHaveLength(7);
    await world.close();
  });
});
