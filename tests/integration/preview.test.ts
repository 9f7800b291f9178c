import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readEpisode } from '../../core/run-directory/rollouts.ts';
import { checkConfig, titled } from '../../core/runs/check-config.ts';
import { previewConfig } from '../../core/runs/preview-config.ts';
import { Trainer } from '../../core/trainer/trainer.ts';
import { newTinyRun } from './tiny-run.ts';
import { trainer as executable, readJournal, temporaryHome, train } from './trainer-process.ts';

const trainer = new Trainer([executable]);
const resources = join(import.meta.dirname, '../../resources');

test("the preview shows the prompts that the policy reads and the trainer's memory plan", async () => {
  const home = temporaryHome(onTestFinished);
  const folder = await newTinyRun(home, {
    iterations: 1,
    'environments.0.prompt.system': 'Cross the lake. {{',
    'environments.0.prompt.first': 'Turn {turn} of <|im_start|>:\n{state}\n{actions}',
  });
  const config = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
  const shown = await previewConfig({ home, resources, trainer }, { config });
  expect(await train(folder)).toBe(0);

  const file = readJournal(folder).find(({ type, split }) => type === 'rollout' && split === 'train');
  const paths = { file: String(file?.file), index: String(file?.index) };
  const [environment] = shown.environments;
  expect(environment?.samples).toHaveLength(3);
  for (const [group, { seed, messages, tokens }] of environment!.samples.entries()) {
    const id = `000001-train-${String(4 * group).padStart(4, '0')}`;
    const episode = await readEpisode(folder, paths, id);
    expect(episode.seed).toBe(seed);
    const text = messages.map(({ role, content }) => `<|im_start|>${role}\n${content}`).join('<|im_end|>\n');
    expect(text).toBe(episode.prompt_text);
    expect(tokens).toBeGreaterThan(20);
  }
  const plan = readJournal(folder).find(({ type }) => type === 'memory_plan');
  expect(shown.memory).toMatchObject({ device: 'cpu', bytes: plan?.total_bytes });
}, 60_000);

test("the trainer's rules are reported by setting title", async () => {
  const parts = { home: '/nowhere', resources: 'resources', trainer, times: { estimator: () => () => null } as never };
  const check = async (set: Record<string, string>) => {
    const { problems, idle } = await checkConfig(parts, { preset: 'starter-frozen-lake-starpo-s', set }, titled);
    return { problems: problems.map(({ path, message }) => `${path}: ${message}`), idle };
  };
  expect((await check({ 'policy_loss.mini_batch': '12', 'rollout.group_size': '8' })).problems).toEqual([
    'policy_loss.mini_batch: Mini-batch must be a multiple of “Rollouts per prompt”.',
  ]);
  expect((await check({ 'critic.model': 'none' })).problems).toEqual([
    'critic.model: Critic must be full or head: this “Estimator” needs a critic.',
  ]);
  expect((await check({ 'environments.0.prompt.first': '{stat}' })).problems[0]).toMatch(
    /^environments\.0\.prompt\.first: First message: unknown placeholder \{stat\}/,
  );
  expect((await check({ 'rollout.top_p': '0.9' })).problems[0]).toMatch(/^rollout\.top_p: Top-p must be 1 in training/);
  const { idle } = await check({ 'kl.coefficient': '0' });
  expect(idle).toContainEqual({
    path: 'kl.estimator',
    reason: '“KL coefficient” is 0: no KL divergence is estimated',
  });
  expect(idle).toContainEqual({
    path: 'environments.0.noise',
    reason: 'this environment is deterministic',
  });
});

test('a prompt that leaves no room for a response is reported for its environment', () => {
  const config = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/formats/examples/run.json'), 'utf8'));
  config.start.model = join(resources, 'starter');
  config.rollout.context = 30;
  const answer = JSON.parse(
    execFileSync(executable, ['preview', '-', '--levels', '1'], {
      input: JSON.stringify(config),
      encoding: 'utf8',
    }),
  );
  expect(answer.prompts[0]).toMatchObject({ samples: [], problem: { code: 'context_too_small' } });
});
