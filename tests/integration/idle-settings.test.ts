import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { trapRegime } from '../../core/contract/echo-trap.ts';
import { adviceFor, whyUntrained } from '../../core/echo-trap/advice.ts';
import { type Core, createCore } from '../../core/index.ts';
import { findPreset } from '../../core/presets/presets.ts';
import { applySettings, type Setting } from '../../core/run-config/settings.ts';
import { takesOneStep } from '../../core/run-config/trained-groups.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { starpoHere } from '../core/fixtures/command.ts';
import { trainTinyPolicy } from './tiny-run.ts';
import { newRun, root, sha256, temporaryHome, train } from './trainer-process.ts';

const small = {
  iterations: 2,
  threads: 1,
  'rollout.groups': 4,
  'rollout.group_size': 4,
  'evaluation.every': 0,
  'evaluation.levels': 4,
  'policy_loss.mini_batch': 16,
};
/** Settings without effect in such a run, with unusual values. */
const idleSettings = {
  'policy_loss.clip_low': 0.01,
  'policy_loss.clip_high': 0.01,
  'policy_loss.dual_clip': 1,
  'advantage.gamma': 0.5,
  'advantage.lambda': 0.5,
  'critic.value_clip': 0.1,
  'kl.estimator': 'k3',
  'rollout_files.keep_every': 1,
  'levels.pool': 8,
  'environments.0.noise': 'independent',
  'environments.0.share': 0.5,
  'environments.0.config.success_rate': 0.3,
  exactness: 'fast',
};
const preset = 'starter-frozen-lake-grpo-s';

test('settings reported to have no effect change no weight, and change weights where they have an effect', async () => {
  const home = temporaryHome(onTestFinished);
  const model = { 'start.model': await trainTinyPolicy(home) };
  const weights = async (settings: Record<string, string | number>) => {
    const folder = await newRun(home, preset, { ...small, ...model, ...settings });
    expect(await train(folder)).toBe(0);
    return sha256(join(folder, 'checkpoints/000002/model.safetensors'));
  };
  const core = await createCore({ home });
  const { idle } = await createHandlers(core)['configs.check']({
    preset,
    set: { ...small, ...model, ...idleSettings },
  });
  const paths = idle.map(({ path }) => path.replace(/\[(\d+)\]/, '.$1'));
  expect(paths).toEqual(expect.arrayContaining(Object.keys(idleSettings)));
  await core.dispose();

  const plain = await weights({});
  expect(await weights(idleSettings)).toBe(plain);
  const steps = { 'policy_loss.mini_batch': 4 };
  expect(await weights({ ...steps, ...idleSettings })).not.toBe(await weights(steps));
});

/** Last healthy iteration, from which forks continue. */
const healthy = 40;
/** The filter keeps 24 episodes of 6 groups of 8 in one environment. */
const halved = {
  'rollout.groups': 6,
  'rollout.group_size': 8,
  'filter.strategy': 'fraction',
  'filter.keep': 0.5,
};

const configurations: [name: string, preset: string, settings: Record<string, Setting>][] = [
  ['GRPO', 'starter-frozen-lake-grpo', {}],
  ['StarPO-S (GRPO)', 'starter-frozen-lake-grpo-s', {}],
  ['PPO with a KL penalty', 'starter-frozen-lake-ppo', {}],
  ['StarPO-S (PPO)', 'starter-sokoban-starpo-s', {}],
  ['two epochs', 'starter-frozen-lake-trap', { 'policy_loss.mini_batch': 128 }],
  ['one step', 'starter-frozen-lake-grpo', { 'policy_loss.mini_batch': 256 }],
  [
    'one step with replay',
    'starter-frozen-lake-grpo',
    { 'policy_loss.mini_batch': 256, 'replay.iterations': 2, 'replay.share': 0.5 },
  ],
  ['one step of the half', 'starter-frozen-lake-grpo', { ...halved, 'policy_loss.mini_batch': 24 }],
  ['two steps of the half', 'starter-frozen-lake-grpo', { ...halved, 'policy_loss.mini_batch': 16 }],
  ['a part of a group', 'starter-bandit', { ...halved, 'filter.keep': 0.7, 'policy_loss.mini_batch': 32 }],
  [
    'a share that is not exact in floating point',
    'starter-bandit',
    { ...halved, 'rollout.groups': 100, 'filter.keep': 0.29, 'policy_loss.mini_batch': 224 },
  ],
  [
    'top_p, which may keep all groups',
    'starter-frozen-lake-grpo',
    { ...halved, 'filter.strategy': 'top_p', 'policy_loss.mini_batch': 24 },
  ],
  [
    'two environments, filtered separately',
    'starter-mixed-grpo-s',
    { ...halved, 'environments.0.share': 0.25, 'policy_loss.mini_batch': 16 },
  ],
  [
    'two environments, and an odd group for the first',
    'starter-mixed',
    { ...halved, 'filter.keep': 0.8, 'policy_loss.mini_batch': 32 },
  ],
  [
    'two environments, and an odd group for the second',
    'starter-mixed',
    { ...halved, 'rollout.groups': 7, 'policy_loss.mini_batch': 24 },
  ],
  [
    'two environments, one of them without a share',
    'starter-mixed',
    { ...halved, 'environments.0.share': 0, 'policy_loss.mini_batch': 24 },
  ],
  ['one group', 'starter-frozen-lake-grpo', { 'rollout.groups': 1 }],
  ['one group for two environments', 'starter-mixed-grpo', { 'rollout.groups': 1 }],
  ['groups of one episode', 'starter-frozen-lake-ppo', { 'rollout.group_size': 1 }],
  [
    'filtered groups of one episode',
    'starter-mixed',
    { ...halved, 'rollout.group_size': 1, 'policy_loss.mini_batch': 5 },
  ],
  ['learning rate 0', 'starter-frozen-lake-grpo', { 'optimizer.learning_rate': 0, 'kl.coefficient': 0.1 }],
  ['learning rate 0 with a critic', 'starter-frozen-lake-ppo', { 'optimizer.learning_rate': 0 }],
  ['critic warm-up until the last iteration', 'starter-frozen-lake-ppo', { 'critic.warmup': 120 }],
  ['critic warm-up until the last iteration of a fork', 'starter-frozen-lake-ppo', { 'critic.warmup': 80 }],
  ['critic warm-up', 'starter-frozen-lake-ppo', { 'critic.warmup': 79 }],
  ['no clip', 'starter-frozen-lake-grpo', { 'policy_loss.clip_low': 0, 'policy_loss.clip_high': 0 }],
];

describe('recommendations are settings that have an effect in the trainer', () => {
  const home = temporaryHome();
  let core: Core;
  beforeAll(async () => {
    core = await createCore({ home });
  });
  afterAll(() => core.dispose());

  test.each(configurations)('%s', async (_, preset, settings) => {
    const config = applySettings(findPreset(preset).config, { 'policy_loss.clip_high': 0.2, ...settings });
    /** Returns the settings without effect in a fork with these changes, with the reasons. */
    const idleWith = async (changes: Record<string, Setting>): Promise<Map<string, string>> => {
      const start = { ...config.start, run: 'parent', checkpoint: healthy };
      const fork = applySettings({ ...config, start }, changes);
      const { problems, idle } = await createHandlers(core)['configs.check']({ config: { ...fork } });
      expect(problems).toEqual([]);
      return new Map(idle.map(({ path, reason }) => [path, reason]));
    };

    const advice = trapRegime.options.flatMap((regime) => adviceFor('warning', regime, config, healthy));
    // The app applies this once the checkpoint is known.
    const untrained = whyUntrained(config, healthy) !== null;
    const offered = advice.filter(({ acts, action }) => acts && !(untrained && action.kind === 'rollback'));
    const acting = new Map(offered.map(({ id, action }) => [id, action]));
    for (const [id, action] of acting) {
      if (action.kind !== 'rollback') continue;
      const changes = Object.fromEntries(action.changes.map(({ path, value }) => [path, value]));
      const idle = await idleWith(changes);
      expect(
        Object.keys(changes).filter((path) => !idle.has(path)),
        id,
      ).not.toEqual([]);
      expect(applySettings(config, changes), id).not.toEqual(config);
    }
    const raised = { 'policy_loss.clip_high': 0.28 };
    const idleClip = (await idleWith(raised)).get('policy_loss.clip_high');
    expect(acting.has('clip_higher')).toBe(config.policy_loss.clip_low > 0 && idleClip === undefined);
    if (config.optimizer.learning_rate > 0)
      expect(takesOneStep(config)).toBe(idleClip?.includes('takes one optimizer step') ?? false);
  });
});

test('a configuration from a preset or a file is checked without creating a run', async () => {
  const home = temporaryHome(onTestFinished);
  const core = await createCore({ home });
  const check = createHandlers(core)['configs.check'];
  expect(await check({ preset, set: { 'policy_loss.mini_batch': 24 } })).toMatchObject({
    problems: [{ code: 'config_invalid', message: 'policy_loss.mini_batch must be a multiple of rollout.group_size.' }],
    idle: [],
  });
  expect(await check({ preset, set: { 'rollout.grups': 8 } })).toMatchObject({
    problems: [{ code: 'config_invalid', hint: 'Did you mean rollout.groups?' }],
  });
  await expect(check({ preset: 'none' })).rejects.toMatchObject({ code: 'preset_unknown' });
  const example = JSON.parse(readFileSync(join(root, 'docs/formats/examples/run.json'), 'utf8'));
  expect(await check({ config: example, set: { 'rollout.top_k': 1 } })).toMatchObject({
    problems: [{ code: 'config_invalid', path: 'rollout.top_k' }],
  });
  const { problems, idle } = await check({ config: example, set: { 'filter.strategy': 'none' } });
  expect(problems).toEqual([]);
  expect(idle).toContainEqual({ path: 'filter.keep', reason: expect.stringContaining('filter.strategy') });
  expect(core.runs.list()).toEqual([]);
  await core.dispose();

  const cli = (...args: string[]) => starpoHere(['check', ...args, '--home', home], process.env);
  const checked = await cli(preset, '--set', 'rollout.group_size=1', '--set', 'policy_loss.mini_batch=16');
  expect(checked).toMatchObject({ status: 0 });
  expect(checked.output).toMatch(
    /^no effect: filter\.strategy, filter\.keep, filter\.score, filter\.order \(rollout\.group_size is 1/m,
  );
  expect(JSON.parse((await cli(preset, '--json')).output)).toMatchObject({ problems: [] });
  const rejected = await cli(preset, '--set', 'policy_loss.mini_batch=24');
  expect(rejected).toMatchObject({ status: 2, errors: expect.stringContaining('config_invalid') });
});
