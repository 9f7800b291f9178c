import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { phaseTitle } from '../../core/contract/run-facts.ts';
import type { Core } from '../../core/index.ts';
import { estimateRun } from '../../core/run-library/estimate.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import * as journal from './fixtures/journal.ts';
import { describeWithTrainer, resources, trainer } from './fixtures/real-trainer.ts';
import { nextNotice, untilRun, World } from './fixtures/world.ts';

describe('the disk usage of a run', { timeout: 60_000 }, () => {
  let world: World;
  let core: Core;
  beforeEach(async () => {
    world = new World();
    core = await world.core();
  });
  afterEach(() => world.close());

  /** Creates a run with files of known sizes. */
  async function createRun(id: string, settings: Record<string, object> = {}): Promise<string> {
    const folder = world.run(id, [journal.started(0)]);
    const config = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
    const text = JSON.stringify({
      ...config,
      start: { ...config.start, model: join(world.resources, 'starter') },
      ...settings,
    });
    writeFileSync(join(folder, 'run.json'), text);
    for (const [path, size] of [
      ['checkpoints/000000/model.safetensors', 5000],
      ['checkpoints/000020/model.safetensors', 4000],
      ['rollouts/000001-train.jsonl.zst', 300],
      ['rollouts/000001-train.index.json', 20],
      ['trainer.log', 7],
    ] as const) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), 'x'.repeat(size));
    }
    await core.supervisor.add(id);
    return text;
  }

  test('is reported by kind of file', async () => {
    const config = await createRun('sizes');
    const events = `${journal.started(0)}\n`.length;
    expect(await core.storage.of('sizes')).toMatchObject({
      rollouts: 320,
      checkpoints: 9000,
      journal: events,
      other: 7 + config.length,
      total: 9327 + events + config.length,
      budget: null,
      warnings: [],
    });
    await expect(core.storage.of('none')).rejects.toMatchObject({ code: 'run_unknown' });
  });

  test.each([
    [1, []],
    [0.000015, ['storage_budget_near']],
    [0.000009, ['storage_budget_passed']],
  ])('with a budget of %d GB gives the warnings %j', async (budget_gigabytes, codes) => {
    await createRun('budget', { storage: { budget_gigabytes } });
    const { budget, warnings } = await core.storage.of('budget');
    expect(budget).toBe(budget_gigabytes * 1e9);
    expect(warnings.map(({ code }) => code)).toEqual(codes);
    for (const { message, hint } of warnings) expect([message, hint]).not.toContain('');
  });

  test('is estimated, with a warning if the disk is too small', async () => {
    await createRun('large', { iterations: 1_000_000 as unknown as object });
    const large = await core.storage.of('large');
    expect(large.warnings.map(({ code }) => code)).toEqual(
      large.expected! > large.free + large.total ? ['disk_space_low'] : [],
    );
    const huge = { groups: 4096, group_size: 1024, slots: 1, max_response_tokens: 65536, context: 1048576 };
    const config = JSON.parse(readFileSync(join(core.runs.folder('large'), 'run.json'), 'utf8'));
    // An episode with several contexts can be longer than a context.
    const bytesWith = (rollout: object) =>
      estimateRun(
        {
          ...config,
          environments: [{ ...config.environments[0], max_turns: 100 }],
          rollout: { ...config.rollout, ...rollout },
        },
        { rollouts: 0, rolloutFiles: 0 },
      );
    const short = { context: 300, max_response_tokens: 100 };
    expect(await bytesWith({ ...short, context_turns: 1 })).toBe(await bytesWith({ ...short, context: 2500 }));
    expect(await bytesWith({ ...short, context_turns: 0 })).toBeLessThan(
      await bytesWith({ ...short, context_turns: 1 }),
    );
    rmSync(join(core.runs.folder('large'), 'rollouts'), { recursive: true });
    writeFileSync(
      join(core.runs.folder('large'), 'run.json'),
      JSON.stringify({
        ...config,
        rollout: { ...config.rollout, ...huge },
        policy_loss: { ...config.policy_loss, mini_batch: 1024 },
      }),
    );
    expect((await core.storage.of('large')).warnings).toMatchObject([
      { code: 'disk_space_low', hint: expect.stringMatching(/./) },
    ]);
  });

  test('is published when it changes', async () => {
    const published = nextNotice(core, 'storage');
    const runId = await core.runs.create({
      preset: 'starter-bandit',
      set: { iterations: 1, 'rollout.groups': 1 },
    });
    await core.runs.start(runId);
    expect((await published).storage.total).toBeGreaterThan(0);
    await untilRun(core, runId, ({ status }) => status === 'completed');
  });

  test('deleted episodes are not listed, and reading them reports that they were deleted', async () => {
    const lines = [journal.started(0), journal.rollout(1, 1), journal.rollout(2, 2), journal.rolloutRemoved(3, 1)];
    world.run('shrinking', lines);
    await core.supervisor.add('shrinking');
    const handlers = createHandlers(core);
    const read = (iteration: number) =>
      handlers['rollouts.episodes']({ runId: 'shrinking', iteration, split: 'train' });
    expect(await handlers['rollouts.list']({ runId: 'shrinking' })).toMatchObject([{ iteration: 2 }]);
    await expect(read(1)).rejects.toMatchObject({ code: 'rollout_gone' });
    // Without an event of its deletion, a missing file counts as lost.
    await expect(read(2)).rejects.toMatchObject({ code: 'rollout_missing' });
    const removed = nextNotice(core, 'rolloutRemoved');
    writeFileSync(
      join(core.runs.folder('shrinking'), 'events.jsonl'),
      [...lines, journal.rolloutRemoved(4, 2)].map((line) => `${line}\n`).join(''),
    );
    await expect(read(2)).rejects.toMatchObject({ code: 'rollout_gone' });
    expect(await removed).toEqual({ runId: 'shrinking', iteration: 2, split: 'train' });
  });
});

const small = {
  threads: 1,
  'start.weights': 'random',
  'rollout.groups': 1,
  'rollout.group_size': 2,
  'policy_loss.mini_batch': 2,
  'filter.keep': 1,
  'evaluation.levels': 1,
};

describeWithTrainer('a real trainer', { timeout: 120_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());

  test('keeps the episodes that rollout_files selects, and its disk usage is near the estimate', async () => {
    const core = await world.core(trainer, { resources });
    const handlers = createHandlers(core);
    const set = {
      ...small,
      iterations: 5,
      'checkpoint.every': 2,
      'rollout_files.keep_last': 1,
      'rollout_files.keep_every': 2,
    };
    const runId = await core.runs.create({ preset: 'starter-bandit', set });
    const { expected } = await core.storage.of(runId);
    await core.runs.start(runId);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    const list = await handlers['rollouts.list']({ runId });
    const train = list.filter(({ split }) => split === 'train');
    expect(train.map(({ iteration }) => iteration)).toEqual([2, 4, 5]);
    for (const file of list)
      expect(await handlers['rollouts.episodes']({ runId, ...file })).toHaveLength(file.episodes);
    const deleted = handlers['rollouts.episodes']({ runId, iteration: 3, split: 'train' });
    await expect(deleted).rejects.toMatchObject({ code: 'rollout_gone' });
    const { total } = await core.storage.of(runId);
    expect(expected! / total).toBeGreaterThan(0.9);
    expect(expected! / total).toBeLessThan(1.6);
  });

  test.runIf(process.platform === 'linux')(
    'that hangs is reported with its phase and a hint until it continues',
    async () => {
      let sleptFor = 0;
      const clock = () => performance.now() + sleptFor;
      const { promise: logged, resolve: log } = Promise.withResolvers<string>();
      const core = await world.core(trainer, { resources, clock, log });
      const set = { ...small, iterations: 1_000_000, 'evaluation.every': 0, 'checkpoint.every': 0 };
      const runId = await core.runs.create({ preset: 'starter-bandit', set });
      await core.runs.start(runId);
      await untilRun(core, runId, ({ iteration }) => iteration >= 2);
      expect(core.runs.get(runId).stalled).toBeNull();
      const pid = (await core.trainer.status(core.runs.folder(runId))).pid!;
      process.kill(pid, 'SIGSTOP');
      while (!isStopped(pid)) await new Promise((resolve) => setImmediate(resolve));
      await core.supervisor.refresh(runId);
      sleptFor = 3_600_000;
      const { stalled, status, phase } = await untilRun(core, runId, (run) => run.stalled !== null);
      expect(status).toBe('running');
      expect(stalled).toMatchObject({
        code: 'trainer_stalled',
        phase: phase!.name,
        message: expect.stringContaining(`while ${phaseTitle(phase!.name).toLowerCase()}.`),
        hint: expect.stringContaining(`kill -CONT ${pid}`),
      });
      expect(await logged).toContain(`${runId}: The trainer has written no event since`);
      process.kill(pid, 'SIGCONT');
      await untilRun(core, runId, (run) => run.stalled === null);
      await core.runs.command(runId, 'pause');
      await untilRun(core, runId, (run) => run.status === 'paused');
      sleptFor *= 2;
      expect(core.runs.get(runId).stalled).toBeNull();
      await core.runs.command(runId, 'stop');
    },
  );
});

const isStopped = (pid: number) => /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
