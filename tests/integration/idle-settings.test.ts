import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCore } from '../../core/index.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { commandLine } from '../command-line.ts';
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
/** What `validate` says can't act in such a run, each as it usually isn't. */
const turned = {
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

test('what is said to be unable to act changes no weight, and the same settings do where they can', async () => {
  const { home, dispose } = await temporaryHome();
  const weights = async (settings: Record<string, string | number>) => {
    const folder = await newRun(home, preset, { ...small, ...settings });
    expect(await train(folder)).toBe(0);
    return sha256(join(folder, 'checkpoints/000002/model.safetensors'));
  };
  const core = await createCore({ home });
  const { idle } = await createHandlers(core)['configs.check']({ preset, set: { ...small, ...turned } });
  const paths = idle.map(({ path }) => path.replace(/\[(\d+)\]/, '.$1'));
  expect(paths).toEqual(expect.arrayContaining(Object.keys(turned)));
  await core.dispose();

  const plain = await weights({});
  expect(await weights(turned)).toBe(plain);
  const steps = { 'policy_loss.mini_batch': 4 };
  expect(await weights({ ...steps, ...turned })).not.toBe(await weights(steps));
  await dispose();
});

test('a configuration is checked from a preset, a run and a whole file, and nothing is made', async () => {
  const { home, dispose } = await temporaryHome();
  const core = await createCore({ home });
  const check = createHandlers(core)['configs.check'];
  expect(await check({ preset, set: { 'policy_loss.mini_batch': 24 } })).toMatchObject({
    problems: [
      { code: 'config_invalid', message: 'policy_loss.mini_batch must be a multiple of rollout.group_size' },
    ],
    idle: [],
  });
  expect(await check({ preset, set: { 'rollout.grups': 8 } })).toMatchObject({
    problems: [{ code: 'config_invalid', hint: 'Did you mean rollout.groups?' }],
  });
  await expect(check({ preset: 'none' })).rejects.toMatchObject({ code: 'preset_unknown' });
  const example = JSON.parse(readFileSync(join(root, 'docs/formats/examples/run.json'), 'utf8'));
  const { problems, warnings, idle } = await check({ config: example, set: { 'rollout.top_k': 1 } });
  expect({ problems, warnings: warnings.length }).toEqual({ problems: [], warnings: 1 });
  expect(idle).toContainEqual({ path: 'rollout.min_p', reason: expect.stringContaining('top_k') });
  expect(core.runs.list()).toEqual([]);
  await core.dispose();

  const cli = (...args: string[]) =>
    spawnSync(process.execPath, [commandLine, 'check', ...args, '--home', home], {
      cwd: root,
      encoding: 'utf8',
    });
  const said = cli(preset, '--set', 'rollout.group_size=1', '--set', 'policy_loss.mini_batch=16');
  expect(said).toMatchObject({ status: 0 });
  expect(said.stdout).toMatch(/^can't act: filter\.strategy, filter\.keep \(rollout\.group_size is 1/m);
  expect(JSON.parse(cli(preset, '--json').stdout)).toMatchObject({ problems: [] });
  const refused = cli(preset, '--set', 'policy_loss.mini_batch=24');
  expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('config_invalid') });
  await dispose();
});
