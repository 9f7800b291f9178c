import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClient } from '../../core/contract/client.ts';
import { type Evaluation, procedures, type Task } from '../../core/contract/contract.ts';
import { databaseFile } from '../../core/history/files.ts';
import { readSeries } from '../../core/history/queries.ts';
import { type Core, createCore } from '../../core/index.ts';
import type { Setting } from '../../core/run-config/settings.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { makeTinyModel } from '../integration/tiny-run.ts';
import { type Child, starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import * as journal from './fixtures/journal.ts';
import { describeWithTrainer, resources, trainer } from './fixtures/real-trainer.ts';
import { untilRun, World } from './fixtures/world.ts';

const settings = {
  threads: 1,
  'start.weights': 'random',
  iterations: 2,
  'rollout.groups': 4,
  'rollout.group_size': 2,
  'rollout.max_response_tokens': 12,
  'policy_loss.mini_batch': 2,
  'evaluation.levels': 4,
  'evaluation.every': 1,
  'checkpoint.every': 1,
};

/** Resolves with the final state of an evaluation when core publishes it. */
function untilEnded(core: Core, name: string): Promise<Evaluation> {
  return new Promise((resolve) => {
    const stop = core.notices.on((kind, payload) => {
      const { evaluation } = payload as { evaluation: Evaluation };
      if (kind !== 'evaluation' || evaluation.name !== name || evaluation.state === 'running') return;
      stop();
      resolve(evaluation);
    });
  });
}

describeWithTrainer('requested evaluations', { timeout: 120_000 }, () => {
  const world = new World();
  let core: Core;
  let runId: string;
  let small: Record<string, Setting>;
  beforeAll(async () => {
    core = await createCore({ home: world.home, resources, trainerPath: trainer });
    small = { ...settings, 'start.model': makeTinyModel(join(world.folder, 'tiny')) };
    runId = await trained('starter-mixed', small);
  }, 120_000);
  afterAll(async () => {
    await core.dispose();
    await world.close();
  });

  async function trained(preset: string, set: Record<string, Setting>): Promise<string> {
    const id = await core.runs.create({ preset, set });
    await core.runs.start(id);
    await untilRun(core, id, ({ status }) => status === 'completed');
    return id;
  }

  async function evaluated(
    id: string,
    wish: Parameters<Core['evaluations']['start']>[1] & { name: string },
  ): Promise<Evaluation> {
    const ended = untilEnded(core, wish.name);
    await core.evaluations.start(id, wish);
    return ended;
  }
  const file = (id: string, path: string) => readFileSync(join(core.runs.folder(id), path));

  test('a run trains on two environments, with metrics and evaluations for each', async () => {
    const names = readSeries(core.database, runId).map(({ name }) => name);
    for (const label of ['frozen-lake', 'bandit']) {
      expect(names).toContain(`rollout/${label}/success_rate`);
      expect(names).toContain(`evaluation/${label}/success_rate_low`);
    }
    const handlers = createHandlers(core);
    const episodes = await handlers['rollouts.episodes']({ runId, iteration: 1, split: 'train' });
    const groups = Map.groupBy(episodes, ({ environment }) => environment);
    expect([...groups].map(([label, { length }]) => [label, length])).toEqual([
      ['frozen-lake', 6],
      ['bandit', 2],
    ]);
  });

  test("an evaluation with the run's settings equals the run's own and shares its levels in the replay", async () => {
    const handlers = createHandlers(core);
    const done = await evaluated(runId, { checkpoint: 1, on: 'bandit', name: 'same' });
    expect(done).toMatchObject({ state: 'done', label: 'bandit', changes: [], done: 4 });
    expect(file(runId, 'evaluations/same.jsonl.zst')).toEqual(file(runId, 'rollouts/000001-bandit.jsonl.zst'));
    const own = readSeries(core.database, runId, ['evaluation/bandit/success_rate']);
    expect(done.metrics?.success_rate).toBe(own[0]!.values[1]);

    const level = await handlers['rollouts.level']({
      runId,
      group: 2,
      files: [
        { iteration: 0, split: 'bandit', evaluation: null },
        { iteration: 1, split: 'bandit', evaluation: 'same' },
        { iteration: 9, split: 'bandit', evaluation: null },
        { iteration: 9, split: 'bandit', evaluation: 'none' },
      ],
    });
    expect(level.map((episode) => episode?.iteration)).toEqual([0, 1, undefined, undefined]);
    expect(level[0]?.seed).toBe(level[1]?.seed);
  });

  test('evaluations on larger levels and other environments can be replayed', async () => {
    const handlers = createHandlers(core);
    const larger = await evaluated(runId, {
      checkpoint: 2,
      on: 'frozen-lake',
      set: { size: '6' },
      levels: 3,
      topP: 0.9,
      topK: 20,
      minP: 0.05,
      seed: 7,
      name: 'larger',
    });
    expect(larger).toMatchObject({ topP: 0.9, topK: 20, minP: 0.05 });
    expect(larger.changes).toEqual(['size=6', 'levels=3', 'top_p=0.9', 'top_k=20', 'min_p=0.05', 'seed=7']);
    const slippery = await evaluated(runId, {
      checkpoint: 2,
      on: 'starter-frozen-lake-slippery',
      name: 'slippery',
    });
    expect(slippery.changes).toEqual(['is_slippery=true', `success_rate=${1 / 3}`]);

    const bandits = await trained('starter-bandit', { ...small, iterations: 1 });
    const choices = await core.evaluations.choices(bandits);
    expect(choices.checkpoints).toEqual([1, 0]);
    expect(choices.environments).toContainEqual(expect.objectContaining({ on: 'frozen-lake', own: false }));
    const unseen = await evaluated(bandits, { checkpoint: 1, on: 'frozen-lake', name: 'unseen' });
    expect(unseen).toMatchObject({ state: 'done', environment: 'frozen-lake', changes: [] });
    const episodes = await handlers['evaluations.episodes']({ runId: bandits, name: 'unseen' });
    for (const { id: episodeId } of episodes) {
      const replay = await handlers['evaluations.replay']({ runId: bandits, name: 'unseen', episodeId });
      expect(replay.frames.at(-1)!.total).toBeCloseTo(replay.summary.reward);
    }
  });

  test('invalid evaluations are rejected with a reason and leave no files', async () => {
    const id = `${runId.slice(0, 40)}-copy`;
    cpSync(core.runs.folder(runId), core.runs.folder(id), { recursive: true });
    await core.supervisor.add(id);
    const checkpoints = join(core.runs.folder(id), 'checkpoints');
    rmSync(join(checkpoints, '000000/model.safetensors'));
    truncateSync(join(checkpoints, '000001/model.safetensors'), 1000);
    const before = readdirSync(join(core.runs.folder(id), 'evaluations'));
    const refusals: [string, string, Parameters<Core['evaluations']['start']>[1]][] = [
      ['nowhere', 'run_unknown', { checkpoint: 2 }],
      [id, 'checkpoint_missing', { checkpoint: 77 }],
      [id, 'checkpoint_pruned', { checkpoint: 0 }],
      [id, 'checkpoint_corrupt', { checkpoint: 1 }],
      [id, 'environment_unknown', { checkpoint: 2, on: 'chess' }],
      [id, 'config_invalid', { checkpoint: 2, set: { sise: '6' } }],
      [id, 'config_invalid', { checkpoint: 2, set: { size: '99' } }],
      [id, 'config_invalid', { checkpoint: 2, levels: 0 }],
      [id, 'config_invalid', { checkpoint: 2, topP: 0 }],
      [id, 'evaluation_exists', { checkpoint: 2, name: 'same' }],
      [id, 'evaluation_name_invalid', { checkpoint: 2, name: 'Not one' }],
    ];
    for (const [run, code, wish] of refusals)
      await expect(core.evaluations.start(run, wish), code).rejects.toMatchObject({ code });
    await expect(core.evaluations.get(id, 'none')).rejects.toMatchObject({ code: 'evaluation_unknown' });
    await expect(core.evaluations.cancel(id, 'none')).rejects.toMatchObject({
      code: 'evaluation_not_active',
    });
    expect(readdirSync(join(core.runs.folder(id), 'evaluations'))).toEqual(before);
    expect((await core.evaluations.list(id)).map(({ state }) => state)).not.toContain('failed');

    const failed = await evaluated(id, { checkpoint: 2, set: { size: 32 }, name: 'too-large' });
    expect(failed).toMatchObject({ state: 'failed', failure: { code: 'context_too_small' } });
    expect(await core.evaluations.get(id, 'too-large')).toEqual(failed);

    writeFileSync(join(core.runs.folder(id), 'evaluations/same.json'), '{');
    await expect(core.evaluations.get(id, 'same')).rejects.toMatchObject({ code: 'evaluation_corrupt' });
    expect((await core.evaluations.list(id)).map(({ name }) => name)).not.toContain('same');
  });

  test('a run is evaluated during training, one evaluation at a time, and an evaluation can be canceled', async () => {
    const set = { ...small, iterations: 100_000, 'evaluation.every': 0, 'checkpoint.every': 1 };
    const id = await core.runs.create({ preset: 'starter-bandit', set });
    await core.runs.start(id);
    await untilRun(core, id, ({ iteration }) => iteration >= 1);
    expect(await evaluated(id, { checkpoint: 0, name: 'beside' })).toMatchObject({ state: 'done' });

    const ended = untilEnded(core, 'long');
    const started = await core.evaluations.start(id, { checkpoint: 0, levels: 65_536, name: 'long' });
    expect(started.state).toBe('running');
    await expect(core.evaluations.start(id, { checkpoint: 0 })).rejects.toMatchObject({
      code: 'evaluation_active',
    });
    await core.evaluations.cancel(id, 'long');
    expect((await ended).state).toBe('canceled');
    expect((await core.evaluations.list(id)).map(({ name }) => name)).toEqual(['beside']);
    expect(readdirSync(join(core.runs.folder(id), 'evaluations')).toSorted()).toEqual([
      'beside.index.json',
      'beside.json',
      'beside.jsonl.zst',
      'beside.panel.json',
    ]);

    expect(core.runs.get(id).status).toBe('running');
    await core.runs.command(id, 'stop');
    const { status, failure } = await untilRun(core, id, (run) => run.status === 'stopped');
    expect({ status, failure }).toEqual({ status: 'stopped', failure: null });
  });

  const environment = world.environment({ STARPO_TRAINER: trainer, STARPO_RESOURCES: resources });
  const evaluateLong = () => starpo(['evaluate', runId, '--levels', '65536', '--name', 'long', '--json'], environment);
  const expectGivenUp = async (long: Child) => {
    expect(await long.kill('SIGINT')).toMatchObject({
      status: 130,
      errors: expect.stringContaining('evaluation_canceled'),
    });
    const files = readdirSync(join(core.runs.folder(runId), 'evaluations'));
    expect(files.filter((name) => name.includes('long') || name.startsWith('.'))).toEqual([]);
  };

  test('no evaluation starts during shutdown', async () => {
    await core.evaluations.close();
    const late = core.evaluations.start(runId, { checkpoint: 1, name: 'late' });
    await expect(late).rejects.toMatchObject({ code: 'evaluation_canceled' });
    await core.dispose();
    core = await createCore({ home: world.home, resources, trainerPath: trainer });
  });

  test('the command line evaluates, and the result is available without the run history', async () => {
    await core.dispose();
    const evaluate = (...args: string[]) => starpoHere(['evaluate', runId, ...args], environment);
    const first = await evaluate('--on', 'bandit', '--json');
    expect(first).toMatchObject({ status: 0, errors: '' });
    const { name, ...stored } = procedures['evaluations.get'].output.parse(
      JSON.parse(first.output.split('\n').at(-1)!),
    );
    expect(name).toBe('000002-bandit');
    const greedy = await evaluate(
      '--on',
      'bandit',
      '--top-p',
      '0.5',
      '--top-k',
      '1',
      '--min-p',
      '0.1',
      '--name',
      'greedy',
    );
    expect(greedy.output).toContain("differs from the run's evaluation settings: top_p=0.5, top_k=1, min_p=0.1");
    const again = await evaluate('--on', 'bandit', '--name', 'again');
    expect(again.output).toContain('bandit at checkpoint 2: success ');
    expect(file(runId, 'evaluations/again.jsonl.zst')).toEqual(file(runId, 'evaluations/000002-bandit.jsonl.zst'));
    expect(await evaluate('--checkpoint', '9')).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/^error: Run \S+ has no checkpoint at iteration 9\.\n.*newest checkpoints: 2, /),
    });

    const long = evaluateLong();
    await long.line(/"state":"running"/);
    await expectGivenUp(long);

    rmSync(databaseFile(world.home));
    core = await createCore({ home: world.home, resources, trainerPath: trainer });
    expect(await core.evaluations.get(runId, name)).toEqual({ name, ...stored });
  });

  test('the command line evaluates through a host, and repeats the evaluation if the host exits', async () => {
    await core.dispose();
    const host = await world.studio({ resources, trainerPath: trainer });
    const long = evaluateLong();
    await long.line(/"state":"running"/);
    const { name } = (await createClient(await host.open()).call('evaluations.list', { runId }))[0]!;
    expect(name).toBe('long');
    await host.close();
    const next = await world.studio({ resources, trainerPath: trainer });
    const client = createClient(await next.open());
    const repeated = new Promise((resolve) => {
      client.on('evaluation', ({ evaluation }) => resolve(evaluation));
    });
    expect(await repeated).toMatchObject({ name: 'long', state: 'running' });
    await expectGivenUp(long);
    await next.close();
    core = await createCore({ home: world.home, resources, trainerPath: trainer });
  });

  test('the command line prints an evaluation that the trainer of a killed host completed, but no older one', async () => {
    await core.dispose();
    const pipe = join(world.folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const slow = join(world.folder, 'slow-trainer');
    writeFileSync(slow, `#!/bin/sh\n[ "$1" = evaluate ] && cat ${pipe}\nexec ${trainer} "$@"\n`, { mode: 0o700 });
    const interrupted = async (name: string) => {
      const host = starpo(['serve', '--port', '0'], { ...environment, STARPO_TRAINER: slow });
      await host.line(/^StarPO Studio is at/);
      const command = starpoHere(['evaluate', runId, '--name', name], environment);
      const loading = await open(pipe, 'w');
      host.process.kill('SIGSTOP');
      await loading.close();
      const result = join(core.runs.folder(runId), 'evaluations', `${name}.json`);
      await vi.waitFor(() => expect(existsSync(result)).toBe(true), { timeout: 60_000 });
      await host.kill();
      return command;
    };
    expect(await interrupted('orphan')).toMatchObject({
      status: 0,
      output: expect.stringMatching(/\nevaluation orphan$/),
    });
    expect(await interrupted('orphan')).toMatchObject({
      status: 2,
      errors: expect.stringContaining('has an evaluation orphan'),
    });
    core = await createCore({ home: world.home, resources, trainerPath: trainer });
  });
});

describe('an evaluation that is loading its model', { timeout: 120_000 }, () => {
  const world = new World();
  afterAll(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });

  test('is a task that can be canceled, also by Ctrl+C', async () => {
    vi.stubEnv('FAKE_TRAINER_LOADING_HOLD', '1');
    world.run('one', [journal.started(0)]);
    const studio = await world.studio();
    const client = createClient(await studio.open());
    const taskIn = (state: Task['state']) =>
      new Promise<Task>((resolve) => {
        const stop = client.on('task', (task) => {
          if (task.kind !== 'evaluation' || task.state !== state) return;
          stop();
          resolve(task);
        });
      });
    const started = taskIn('running');
    const starting = client.call('evaluations.start', { runId: 'one', checkpoint: 20, name: 'first' });
    const given = expect(starting).rejects.toMatchObject({ code: 'evaluation_canceled' });
    const { id: taskId } = await started;
    expect(await client.call('tasks.list', {})).toMatchObject([{ id: taskId, runId: 'one' }]);
    await client.call('tasks.cancel', { taskId });
    await given;

    const [again, ended] = [taskIn('running'), taskIn('canceled')];
    const command = starpo(['evaluate', 'one', '--checkpoint', '20'], world.environment());
    await again;
    expect(await command.kill('SIGINT')).toMatchObject({
      status: 130,
      output: '',
      errors: expect.stringContaining('evaluation_canceled'),
    });
    await ended;
    expect(await client.call('tasks.list', {})).toEqual([]);
    expect(await client.call('evaluations.list', { runId: 'one' })).toEqual([]);
  });
});
