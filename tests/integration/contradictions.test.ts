import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { findPreset } from '../../core/presets/presets.ts';
import { applySettings, type Setting } from '../../core/run-config/settings.ts';
import { root, trainer } from './trainer-process.ts';

type Settings = Record<string, Setting>;

const program = {
  ...findPreset('starter-frozen-lake-grpo').config.environments[0],
  type: 'process',
  config: {
    ...{ command: 'true', directory: '/', processes: 1 },
    ...{ episodes_per_process: 1, start_seconds: 1, answer_seconds: 1 },
  },
};

/** Settings that contradict each other, the setting and the text of the refusal, and a change that makes them valid. */
const contradictions: [preset: string, settings: Settings, path: string, message: string, wayOut: Settings][] = [
  [
    'starter-frozen-lake-grpo',
    { 'environments.0.label': 'train' },
    'environments[0].label',
    'is reserved for training episodes',
    { 'environments.0.label': 'lake' },
  ],
  [
    'starter-mixed-grpo',
    { 'environments.1.label': 'frozen-lake' },
    'environments[1].label',
    'another environment has the same label',
    { 'environments.1.label': 'bandit' },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'start.keep_optimizer': true },
    'start.keep_optimizer',
    'must be false: start.run is empty',
    { 'start.keep_optimizer': false },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'start.run': 'parent', 'start.checkpoint': 40, iterations: 40 },
    'iterations',
    'must be above start.checkpoint',
    { iterations: 41 },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'environments.0.share': 0 },
    'environments',
    'at least one share must be above 0',
    { 'environments.0.share': 1 },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'rollout.group_size': 10, 'policy_loss.mini_batch': 64 },
    'policy_loss.mini_batch',
    'must be a multiple of rollout.group_size',
    { 'policy_loss.mini_batch': 60 },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'policy_loss.entropy_tokens': 'reasoning', 'rollout.think': false },
    'policy_loss.entropy_tokens',
    'must be all: rollout.think is false',
    { 'policy_loss.entropy_tokens': 'all' },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'advantage.estimator': 'gae' },
    'critic.model',
    'must be full or head: this advantage.estimator needs a critic',
    { 'critic.model': 'head' },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'critic.model': 'full' },
    'critic.model',
    'must be none: only advantage.estimator gae, bi_level_gae, ',
    { 'critic.model': 'none' },
  ],
  [
    'starter-frozen-lake-gigpo',
    { 'reward.normalization': 'mean' },
    'reward.normalization',
    'must be none: it gives one reward per episode, but advantage.rewards is turn. Set it to none, or ',
    { 'advantage.rewards': 'episode' },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'advantage.estimator': 'maxrl', 'reward.normalization': 'mean_std' },
    'reward.normalization',
    'must be none: maxrl divides by the mean score of a group, which normalization by group makes 0.',
    { 'reward.normalize_by': 'batch' },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'reward.program.command': 'true' },
    'reward.program.directory',
    'must be an absolute folder: reward.program.command runs in it',
    { 'reward.program.directory': '/' },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'reward.normalization': 'mean', 'rollout.group_size': 1 },
    'reward.normalize_by',
    'must be environment or batch: rollout.group_size is 1',
    { 'reward.normalize_by': 'batch' },
  ],
  [
    'starter-frozen-lake-ppo',
    { 'rollout.extra_rounds': 2, 'rollout.group_size': 1 },
    'rollout.extra_rounds',
    'must be 0: groups of one episode have no reward std. Raise rollout.group_size',
    { 'rollout.group_size': 8 },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'reward.length_buffer': 97 },
    'reward.length_buffer',
    'must be at most rollout.max_response_tokens',
    { 'reward.length_buffer': 96 },
  ],
  [
    'starter-warm-start',
    { environments: JSON.stringify([program]) },
    'task',
    'must be reinforce: a program has no demonstrations',
    { task: 'reinforce' },
  ],
  [
    'starter-warm-start',
    { 'warm_start.plain': 0, 'warm_start.positions': 0, 'warm_start.careful': 0 },
    'warm_start',
    'plain, positions or careful must be above 0',
    { 'warm_start.plain': 1 },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'policy_loss.dual_clip': 0.5 },
    'policy_loss.dual_clip',
    'must be 0 (off) or at least 1',
    { 'policy_loss.dual_clip': 1 },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'policy_loss.objective': 'cispo', 'policy_loss.dual_clip': 3 },
    'policy_loss.dual_clip',
    'must be 0: only policy_loss.objective clip has a dual clip',
    { 'policy_loss.dual_clip': 0 },
  ],
  [
    'starter-frozen-lake-gspo',
    { 'policy_loss.objective': 'dppo' },
    'policy_loss.ratio_level',
    'must be token: policy_loss.objective cispo, sapo and dppo compare single tokens. Set it to token, or ',
    { 'policy_loss.ratio_level': 'token' },
  ],
  [
    'starter-frozen-lake-grpo',
    { 'policy_loss.objective': 'sapo', 'policy_loss.clip_turn_factor': 2 },
    'policy_loss.clip_turn_factor',
    'must be 1: policy_loss.objective sapo has no clip range',
    { 'policy_loss.clip_turn_factor': 1 },
  ],
  [
    'starter-frozen-lake-gspo',
    { 'policy_loss.clip_turn_factor': 2 },
    'policy_loss.clip_turn_factor',
    'must be 1: a ratio of the whole sequence or trajectory belongs to no turn. Set ',
    { 'policy_loss.ratio_level': 'turn' },
  ],
  [
    'starter-bandit-grpo',
    { 'environments.0.config.hi_arm_name': 'phoenix' },
    'environments[0].config.hi_arm_name',
    'must differ from lo_arm_name',
    { 'environments.0.config.hi_arm_name': 'Dragon' },
  ],
  [
    'starter-sokoban-grpo',
    { 'environments.0.config.num_boxes': 15 },
    'environments[0].config.num_boxes',
    'must leave at least two of the ',
    { 'environments.0.config.num_boxes': 14 },
  ],
  [
    'starter-sokoban-grpo',
    { 'environments.0.config.grid_lookup.1': '#' },
    'environments[0].config.grid_lookup',
    'must not use a symbol twice',
    { 'environments.0.config.grid_lookup.1': '_' },
  ],
  ...(['top_p', 'top_k', 'min_p'] as const).map((key): (typeof contradictions)[number] => [
    'starter-frozen-lake-grpo',
    { [`rollout.${key}`]: 0.5 * (key === 'top_k' ? 2 : 1) },
    `rollout.${key}`,
    `must be ${key === 'top_p' ? 1 : 0} in training`,
    { [`rollout.${key}`]: key === 'top_p' ? 1 : 0 },
  ]),
];

/** Returns what the trainer reports about a configuration; empty if it is valid. */
async function validate(preset: string, settings: Settings): Promise<string> {
  const config = applySettings({ ...findPreset(preset).config }, settings);
  const child = spawn(trainer, ['validate', '-'], { stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.end(JSON.stringify(config));
  return text(child.stderr);
}

describe('contradictory settings are rejected, and the suggested fix is valid', () => {
  test.concurrent.for(contradictions)('%s %j', async ([preset, settings, path, message, wayOut]) => {
    const refusal = await validate(preset, settings);
    expect(refusal).toContain(`${path}: ${message}`);
    expect(refusal).toContain('config_invalid');
    expect(await validate(preset, { ...settings, ...wayOut })).toBe('');
  });

  test('for every rule between settings', () => {
    const folder = join(root, 'native/src');
    const sources = readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.cpp'));
    const rules = sources.flatMap((name) => {
      const [, ...checks] = readFileSync(join(folder, String(name)), 'utf8').split(/\bv(?:isitor)?\.check\(/);
      return checks.flatMap((check) => {
        const [body] = check.split('\n}\n');
        return [...body!.matchAll(/"((?:must|is reserved|another|at least|plain,) [^"]*)"/g)].map(([, rule]) => rule!);
      });
    });
    expect(rules.length).toBeGreaterThan(20);
    const uncovered = rules.filter((rule) => !contradictions.some(([, , , message]) => rule.startsWith(message)));
    expect(uncovered).toEqual([]);
  });
});
