import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TrapCalibration } from '../../core/contract/contract.ts';
import { shippedCalibration, writeCalibration } from '../../core/echo-trap/calibration.ts';
import { eventsAfter, readLog } from '../../core/history/queries.ts';
import { presets } from '../../core/presets/presets.ts';
import type { Setting } from '../../core/run-config/settings.ts';
import { eventTypes } from '../../core/run-directory/events.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { makeTinyModel } from '../integration/tiny-run.ts';
import { starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import { storedSeqs } from './fixtures/journal.ts';
import { describeWithTrainer, resources, trainer } from './fixtures/real-trainer.ts';
import { root, untilRun, World } from './fixtures/world.ts';

describeWithTrainer('core and the trainer agree', {}, () => {
  test.each(presets.map(({ id, config }) => [id, config] as const))('on the preset %s', (_, config) => {
    const folder = mkdtempSync(join(tmpdir(), 'starpo-preset-'));
    const path = join(folder, 'run.json');
    writeFileSync(path, JSON.stringify(config));
    const { status, stderr } = spawnSync(trainer, ['validate', path], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('on the documented example', () => {
    const { status, stderr } = spawnSync(trainer, ['validate', join(root, 'docs/formats/examples/run.json')], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describeWithTrainer('a real run', {}, () => {
  let world: World;
  let small: Record<string, Setting>;
  beforeEach(() => {
    world = new World({ thread: true });
    small = { ...settings, 'start.model': makeTinyModel(join(world.folder, 'tiny')) };
  });
  afterEach(() => world.close());
  const settings = {
    threads: 1,
    'start.weights': 'random',
    iterations: 2,
    'rollout.groups': 2,
    'rollout.group_size': 2,
    'policy_loss.mini_batch': 2,
    'filter.keep': 1,
    'evaluation.levels': 4,
    'evaluation.every': 1,
  };

  test.each(['starter-frozen-lake', 'starter-bandit'])(
    'of %s is ingested and replayed',
    { timeout: 120_000 },
    async (preset) => {
      const core = await world.core(trainer, { resources });
      const handlers = createHandlers(core);
      const runId = await core.runs.create({ preset, set: small });
      await core.runs.start(runId);
      await untilRun(core, runId, ({ status }) => status !== 'running' && status !== 'created');
      expect(core.runs.get(runId)).toMatchObject({ status: 'completed', iteration: 2, failure: null });
      const events = eventsAfter(core.database, runId, -1);
      expect(events.map((event) => event.seq)).toEqual(storedSeqs(core.runs.folder(runId)));
      for (const { type } of events) expect(eventTypes).toContain(type);
      expect(readLog(core.database, runId).filter((line) => line.seq < 0)).toEqual([]);
      for (const file of await handlers['rollouts.list']({ runId })) {
        const episodes = await handlers['rollouts.episodes']({ runId, ...file });
        expect(episodes).toHaveLength(file.episodes);
        for (const { id } of episodes) {
          const replay = await handlers['rollouts.replay']({ runId, episodeId: id });
          expect(replay.frames.at(-1)!.total).toBeCloseTo(replay.summary.reward);
        }
      }
    },
  );

  test('with a truncated model file fails with the reason', { timeout: 60_000 }, async () => {
    const starter = join(world.resources, 'starter');
    for (const file of ['config.json', 'tokenizer.json', 'model.safetensors'])
      copyFileSync(join(resources, 'starter', file), join(starter, file));
    const core = await world.core(trainer);
    const runId = await core.runs.create({ preset: 'starter-frozen-lake' });
    writeFileSync(join(starter, 'model.safetensors'), 'short');
    await expect(core.runs.create({ preset: 'starter-frozen-lake' })).rejects.toMatchObject({
      code: 'model_file_truncated',
    });
    await core.runs.start(runId);
    const { failure } = await untilRun(core, runId, ({ status }) => status === 'failed');
    expect(failure).toMatchObject({ code: 'model_file_truncated', hint: expect.stringMatching(/./) });
  });

  test('stops early, and commands show the rule', { timeout: 120_000 }, async () => {
    const environment = world.environment({ STARPO_TRAINER: trainer, STARPO_RESOURCES: resources });
    // Without valid responses, all rewards are equal.
    const unfiltered = { ...small, 'rollout.max_response_tokens': 1, 'early_stop.empty_filters': 1 };
    const set = Object.entries(unfiltered).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const trained = await starpoHere(['train', 'starter-frozen-lake-starpo-s-v2', ...set], environment);
    const rule = 'The filter kept no group in 1 iteration (early_stop.empty_filters).';
    expect(trained.status).toBe(1);
    expect(trained.output).toContain(`Stopped early after iteration 1 of 2; checkpoint saved. ${rule} Resume it with`);
    const [, id] = /^run (\S+)$/m.exec(trained.output)!;
    expect((await starpoHere(['show', id!], environment)).output).toMatch(/^stopped +The filter kept no group/m);
    expect((await starpoHere(['logs', id!], environment)).output).toContain('Stopped early after iteration 1: ');
  });

  test('is killed, resumed and stopped', { timeout: 120_000 }, async () => {
    const core = await world.core(trainer, { resources });
    const set = { ...small, iterations: 1000, 'evaluation.every': 0, 'checkpoint.every': 1 };
    const runId = await core.runs.create({ preset: 'starter-bandit', set });
    await core.runs.start(runId);
    await expect(core.runs.start(runId)).rejects.toMatchObject({ code: 'run_active' });
    await untilRun(core, runId, ({ iteration }) => iteration >= 2);
    process.kill((await core.trainer.status(core.runs.folder(runId))).pid!, 'SIGKILL');
    const { iteration } = await untilRun(core, runId, ({ status }) => status === 'interrupted');
    await core.runs.start(runId);
    await untilRun(core, runId, (run) => run.iteration > iteration);
    expect(await core.runs.command(runId, 'pause')).toMatchObject({ accepted: true });
    await untilRun(core, runId, ({ status }) => status === 'paused');
    expect(await core.runs.command(runId, 'stop')).toMatchObject({ accepted: true });
    await untilRun(core, runId, ({ status }) => status === 'stopped');
    const iterations = core.database
      .prepare("SELECT iteration FROM metrics WHERE run = ? AND name = 'actor/loss' ORDER BY iteration")
      .pluck()
      .all(runId);
    expect(iterations).toEqual(iterations.map((_, index) => index + 1));
  });

  test('rolls back to a fork of the last healthy checkpoint if it collapses', {
    timeout: 300_000,
  }, async () => {
    // A learning rate that always collapses, and thresholds that react immediately.
    const { thresholds } = shippedCalibration;
    const about: TrapCalibration = { source: 'fitted', models: ['this test'], runs: 1, note: 'hasty' };
    const weights = { ...thresholds.weights, reward_std_falls: 1, format_falls: 1 };
    const hasty = { ...thresholds, window: 2, baseline: 3, on_after: 1, weights };
    writeCalibration(world.home, { about, thresholds: hasty });
    const core = await world.core(trainer, { resources, backgroundWork: true });
    const set = {
      ...settings,
      'start.weights': 'load',
      iterations: 40,
      'rollout.groups': 4,
      'rollout.group_size': 4,
      'rollout.max_response_tokens': 32,
      'policy_loss.mini_batch': 16,
      'optimizer.learning_rate': 0.01,
      'evaluation.every': 0,
      'checkpoint.every': 1,
      automatic_action: 'rollback',
    };
    const runId = await core.runs.create({ preset: 'starter-frozen-lake', set });
    await core.runs.start(runId);
    const { lastAction, status } = await untilRun(
      core,
      runId,
      (run) => ['done', 'failed'].includes(run.lastAction?.state ?? '') || run.status === 'completed',
    );
    expect(lastAction).toMatchObject({ kind: 'rollback', by: 'monitor', state: 'done' });
    expect(status).toBe('stopped');
    const { checkpoint, fork } = lastAction!;
    const { parent, iterations } = await untilRun(core, fork!, ({ iteration }) => iteration > checkpoint!);
    expect({ parent, iterations }).toEqual({
      parent: { run: runId, iteration: checkpoint },
      iterations: 40,
    });
    const first = core.database.prepare('SELECT min(iteration) FROM metrics WHERE run = ? AND name = ?').pluck();
    expect(first.get(fork, 'actor/loss')).toBe(checkpoint! + 1);
    await core.runs.command(fork!, 'stop');
    await untilRun(core, fork!, (run) => run.status === 'stopped');
    const { optimizer } = (await core.runs.config(fork!)) as { optimizer: { learning_rate: number } };
    expect(optimizer.learning_rate).toBe(0.0033);
  });

  test('continues while core is killed, and every event is ingested once', {
    timeout: 120_000,
  }, async () => {
    const environment = world.environment({ STARPO_TRAINER: trainer, STARPO_RESOURCES: resources });
    const set = Object.entries({ ...small, iterations: 6 }).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const command = starpo(['train', 'starter-bandit', ...set], environment);
    const [, runId] = await command.line(/^run (\S+)$/);
    await command.line(/^iteration 2\//);
    await command.kill();
    const core = await world.core(trainer, { resources });
    await untilRun(core, runId!, ({ status }) => status === 'completed');
    const seqs = eventsAfter(core.database, runId!, -1).map((event) => event.seq);
    expect(seqs).toEqual(storedSeqs(core.runs.folder(runId!)));
  });
});
