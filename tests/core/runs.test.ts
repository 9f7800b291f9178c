import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Notice } from '../../core/contract/contract.ts';
import { readLog, readSeries } from '../../core/history/queries.ts';
import type { Core } from '../../core/index.ts';
import { configVersion } from '../../core/run-config/upgrade.ts';
import { runIdPattern } from '../../core/run-directory/names.ts';
import * as journal from './fixtures/journal.ts';
import { untilRun, World } from './fixtures/world.ts';

const small = {
  iterations: 6,
  'rollout.groups': 1,
  'rollout.group_size': 4,
  'policy_loss.mini_batch': 4,
  'checkpoint.every': 2,
};

describe('runs', { timeout: 60_000 }, () => {
  let world: World;
  let core: Core;
  beforeEach(async () => {
    world = new World();
    core = await world.core();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });
  const create = (preset = 'starter-frozen-lake') => core.runs.create({ preset, set: small });

  test('a new run has a complete run.json with an absolute model path and its sha256, and is not started', async () => {
    const runId = await create();
    expect(runId).toMatch(runIdPattern);
    const config = JSON.parse(readFileSync(join(core.runs.folder(runId), 'run.json'), 'utf8'));
    expect(config).toMatchObject({ preset: 'starter-frozen-lake-grpo-s', iterations: 6 });
    expect(config.start.model).toBe(join(world.resources, 'starter'));
    expect(config.start.sha256).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
    expect(core.runs.get(runId)).toMatchObject({ status: 'created', iteration: 0, startedAt: null });
    expect(core.runs.get(runId).name).toBe(`FrozenLake ${runId.slice(-4)}`);
  });

  test('the sha256 of a sharded model covers the names and contents of its shards', async () => {
    const starter = join(world.resources, 'starter');
    rmSync(join(starter, 'model.safetensors'));
    const index = (weight_map: unknown) =>
      writeFileSync(join(starter, 'model.safetensors.index.json'), JSON.stringify({ weight_map }));
    await expect(create()).rejects.toMatchObject({ code: 'model_missing' });
    for (const bad of [undefined, [], { a: 1 }, { a: '../b' }, { a: '/b' }, { a: '' }]) {
      index(bad);
      await expect(create()).rejects.toMatchObject({ code: 'model_index_invalid' });
    }
    index({ a: 'two', b: 'one', c: 'two' });
    await expect(create()).rejects.toMatchObject({ code: 'model_shard_missing' });
    expect(core.runs.list()).toEqual([]);

    writeFileSync(join(starter, 'one'), '1');
    writeFileSync(join(starter, 'two'), '2');
    const config = JSON.parse(readFileSync(join(core.runs.folder(await create()), 'run.json'), 'utf8'));
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(config.start.sha256).toBe(sha256(`${sha256('1')}  one\n${sha256('2')}  two\n`));
  });

  test.each([
    [{ preset: 'nothing' }, 'preset_unknown'],
    [{ preset: 'starter-bandit', set: { iterations: 0 } }, 'config_invalid'],
    [{ preset: 'starter-bandit', set: { iteration: 5 } }, 'config_invalid'],
    [{ preset: 'starter-bandit', set: { 'start.model': '/nowhere' } }, 'model_missing'],
    [{ preset: 'starter-bandit', set: { 'kl.reference': '/nowhere' } }, 'model_missing'],
  ])('%j is rejected without creating a run', async (input, code) => {
    await expect(core.runs.create(input)).rejects.toMatchObject({ code, hint: expect.stringMatching(/./) });
    expect(core.runs.list()).toEqual([]);
  });

  test('a run starts once, and not again if its end is not ingested yet', async () => {
    const runId = await create();
    const both = await Promise.allSettled([core.runs.start(runId), core.runs.start(runId)]);
    expect(both).toMatchObject([
      { status: 'fulfilled' },
      { reason: { code: 'run_active', hint: expect.stringContaining(`starpo logs ${runId} --follow`) } },
    ]);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    const folder = world.run('ended', [journal.started(0), journal.iteration(1, 1)]);
    await core.supervisor.add('ended');
    expect(core.runs.get('ended').status).not.toBe('completed');
    appendFileSync(join(folder, 'events.jsonl'), `${journal.stopped(2, 1)}\n`);
    await expect(core.runs.start('ended')).rejects.toMatchObject({ code: 'run_completed' });
  });

  test('a run trains to its last iteration and cannot be started again', async () => {
    const runId = await create();
    await core.runs.start(runId);
    const run = await untilRun(core, runId, ({ status }) => status === 'completed');
    expect(run).toMatchObject({
      iteration: 6,
      iterations: 6,
      phase: null,
      failure: null,
      environments: ['frozen-lake'],
    });
    expect(run.latest['evaluation/frozen-lake/success_rate']).toBeTypeOf('number');
    expect(readSeries(core.database, runId, ['actor/grad_norm'])[0]!.iterations).toEqual([1, 2, 3, 4, 5, 6]);
    await expect(core.runs.start(runId)).rejects.toMatchObject({ code: 'run_completed' });
  });

  test('the summary is published together with the metrics of an iteration', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '2');
    const runId = await create();
    const published: string[] = [];
    const secondIteration = new Promise<void>((resolve) => {
      core.notices.on((name, payload) => {
        if (name === 'run') published.push(`summary ${(payload as Notice<'run'>).iteration}`);
        if (name !== 'metrics') return;
        const newest = (payload as Notice<'metrics'>).points.at(-1)?.iteration ?? 0;
        published.push(`metrics ${newest}`);
        // Microtasks run before timers, so only notices of the same tick are checked.
        if (newest === 2) queueMicrotask(resolve);
      });
    });
    await core.runs.start(runId);
    await secondIteration;
    expect(published.slice(-2)).toEqual(['metrics 2', 'summary 2']);
    await core.runs.command(runId, 'stop');
  });

  test('commands pause and stop a run, which can be resumed later', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '2');
    const runId = await create();
    await core.runs.start(runId);
    await untilRun(core, runId, ({ iteration }) => iteration === 2);
    expect(await core.runs.command(runId, 'pause')).toEqual({ accepted: true, message: 'pause' });
    await untilRun(core, runId, ({ status }) => status === 'paused');
    expect(await core.runs.command(runId, 'pause')).toMatchObject({ accepted: false });
    expect(await core.runs.command(runId, 'stop')).toMatchObject({ accepted: true });
    await untilRun(core, runId, ({ status }) => status === 'stopped');
    await expect(core.runs.command(runId, 'resume')).rejects.toMatchObject({ code: 'run_not_active' });
    await core.runs.start(runId);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    expect(readLog(core.database, runId).map((line) => line.message)).toContainEqual(
      expect.stringMatching(/^Resumed from/),
    );
  });

  test('a command is written after a truncated line', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '1');
    const runId = await create();
    const control = join(core.runs.folder(runId), 'control.jsonl');
    writeFileSync(control, '{"v":1,"id":"old"');
    await core.runs.start(runId);
    await untilRun(core, runId, ({ iteration }) => iteration === 1);
    expect(await core.runs.command(runId, 'stop')).toMatchObject({ accepted: true });
    const lines = readFileSync(control, 'utf8').split('\n');
    expect(JSON.parse(lines[1]!)).toMatchObject({ v: 1, command: 'stop', args: {} });
  });

  test('a crashed trainer leaves an interrupted run that resumes from its checkpoint', async () => {
    vi.stubEnv('FAKE_TRAINER_DIE', '5');
    const runId = await create();
    await core.runs.start(runId);
    expect(await untilRun(core, runId, ({ status }) => status === 'interrupted')).toMatchObject({
      iteration: 5,
    });
    await core.dispose();
    const later = await world.core();
    expect(later.runs.get(runId).status).toBe('interrupted');
    await later.runs.start(runId);
    await untilRun(later, runId, ({ status }) => status === 'completed');
    expect(readSeries(later.database, runId, ['actor/grad_norm'])[0]!.iterations).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a run without optimizer state is neither resumed nor queued, and a fork is offered', async () => {
    vi.stubEnv('FAKE_TRAINER_DIE', '3');
    const runId = await create();
    await core.runs.start(runId);
    await untilRun(core, runId, ({ status }) => status === 'interrupted');
    const checkpoints = join(core.runs.folder(runId), 'checkpoints');
    const newest = readdirSync(checkpoints).at(-1)!;
    for (const name of readdirSync(checkpoints)) rmSync(join(checkpoints, name, 'trainer-state.safetensors'));
    const refused = {
      code: 'run_not_resumable',
      hint: expect.stringContaining(`starpo train --from ${runId}@${Number(newest)}`),
    };
    await expect(core.runs.start(runId)).rejects.toMatchObject(refused);
    expect(() => core.queue.add(runId)).toThrow(expect.objectContaining(refused));

    rmSync(checkpoints, { recursive: true });
    await expect(core.runs.start(runId)).rejects.toMatchObject({
      code: 'run_not_resumable',
      hint: `Start a new run with the same configuration: \`starpo train --from ${runId}\`.`,
    });
    expect(core.runs.get(runId).iteration).toBe(3);
  });

  test('start fails with the error that the trainer reports before it trains', async () => {
    vi.stubEnv('FAKE_TRAINER_REFUSE', '1');
    const runId = await create();
    const error = { code: 'model_corrupt', message: 'the model file is cut short', hint: 'Copy it again.' };
    await expect(core.runs.start(runId)).rejects.toMatchObject({ ...error, message: 'The model file is cut short.' });
    expect(readFileSync(join(core.runs.folder(runId), 'trainer.log'), 'utf8')).toContain('model_corrupt');
    expect(core.runs.get(runId).status).toBe('created');
  });

  test('a missing or invalid trainer is reported', async () => {
    await core.dispose();
    const missing = await world.core(join(world.folder, 'nowhere'));
    const runId = await missing.runs.create({ preset: 'starter-bandit' });
    await expect(missing.runs.start(runId)).rejects.toMatchObject({ code: 'trainer_missing' });
    await missing.dispose();
    const file = join(world.folder, 'not-a-program');
    writeFileSync(file, 'text', { mode: 0o755 });
    const unusable = await world.core(file);
    await expect(unusable.runs.start(runId)).rejects.toMatchObject({ code: 'trainer_unusable' });
  });

  test('a run of a newer version is listed but not started', async () => {
    const runId = await create();
    const path = join(core.runs.folder(runId), 'run.json');
    writeFileSync(
      path,
      JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), version: configVersion + 1, more: {} }),
    );
    expect(core.runs.get(runId).status).toBe('created');
    await expect(core.runs.start(runId)).rejects.toMatchObject({ code: 'config_version_unsupported' });
    expect(existsSync(join(core.runs.folder(runId), 'trainer.lock'))).toBe(false);
  });

  test('a damaged run.json is reported', async () => {
    const runId = await create();
    writeFileSync(join(core.runs.folder(runId), 'run.json'), '{"preset"');
    const error = { code: 'config_unreadable', hint: expect.stringMatching(/./) };
    await expect(core.runs.start(runId)).rejects.toMatchObject(error);
  });

  test('a run folder with an invalid run.json is skipped', async () => {
    const folder = world.run('odd-run');
    writeFileSync(join(folder, 'run.json'), '{"preset"');
    await core.dispose();
    expect((await world.core()).runs.list()).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});
