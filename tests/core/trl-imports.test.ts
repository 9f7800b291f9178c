import { describe, expect, test } from 'vitest';
import { importConfig } from '../../core/config-imports/import-config.ts';
import { presetWithModelOf } from '../../core/presets/presets.ts';
import { failure, imported } from './fixtures/imported-config.ts';

describe("TRL's GRPOConfig", () => {
  const yaml = [
    'model_name_or_path: Qwen/Qwen2.5-0.5B-Instruct',
    ...[
      'num_generations: 8',
      'per_device_train_batch_size: 16',
      'gradient_accumulation_steps: 4',
      'max_completion_length: 256',
    ],
    ...[
      'learning_rate: 2.0e-6',
      'lr_scheduler_type: cosine',
      'warmup_steps: 10',
      'max_steps: 300',
      'beta: 0.04',
      'num_iterations: 2',
    ],
    ...[
      'epsilon: 0.2',
      'epsilon_high: 0.28',
      'loss_type: dr_grpo',
      'scale_rewards: false',
      'temperature: 0.9',
      'bf16: true',
    ],
    ...['eval_steps: 25', 'save_steps: 50', 'report_to: wandb', 'dataset_name: my/data'],
  ].join('\n');

  test('becomes a configuration with the environments of a preset', () => {
    const { config, texts } = imported([{ name: 'grpo.yaml', text: yaml }]);
    expect(config).toMatchObject({
      ...{ preset: 'custom', start: { model: 'Qwen2.5-0.5B-Instruct' } },
      // Each iteration has two of TRL's optimizer steps.
      iterations: 150,
      rollout: { groups: 8, group_size: 8, max_response_tokens: 256, temperature: 0.9 },
      advantage: { estimator: 'dr_grpo' },
      policy_loss: {
        average: 'fixed_length',
        clip_low: 0.2,
        clip_high: 0.28,
        mini_batch: 64,
        epochs: 2,
        dual_clip: 0,
        entropy_coefficient: 0,
      },
      optimizer: { learning_rate: 2e-6, schedule: 'cosine', warmup: 10, weight_decay: 0 },
      kl: { coefficient: 0.04, estimator: 'k3', placement: 'loss' },
      evaluation: { every: 13 },
      checkpoint: { every: 25 },
      filter: { strategy: 'none' },
    });
    expect(texts('changed')).toContain(
      'max_steps = 300 is iterations = 150. TRL counts optimizer steps; an iteration has 2.',
    );
    expect(config.environments.map(({ type }) => type)).toEqual(['frozen-lake']);
    expect(texts('changed')).toContain('reward functions have no counterpart');
    expect(texts('no_counterpart')).toMatch(/dataset_name: episodes come from environments/);
    // 200 · 116 / 200 would be rounded up if it were computed as 200 / (200 / 116).
    const sizes = [
      'per_device_train_batch_size=116',
      'gradient_accumulation_steps=1',
      'num_iterations=1',
      'max_steps=200',
    ];
    const uneven = imported([{ name: 'grpo.yaml', text: yaml }], ...sizes, '+generation_batch_size=200');
    expect(uneven.config.iterations).toBe(116);
    expect(uneven.texts('changed')).toContain('TRL counts optimizer steps; an iteration has 1.72.');
    const { environments } = imported([{ name: 'grpo.yaml', text: yaml }], 'preset=starter-sokoban-grpo').config;
    expect(environments.map(({ type }) => type)).toEqual(['sokoban']);
  });

  test.each([
    ['starter-sokoban', 'null', 'group', 'starter-sokoban-grpo'],
    ['starter-sokoban', 'null', 'none', 'custom'],
    ['starter-webshop', 'Qwen/Qwen2.5-0.5B-Instruct', 'group', 'custom'],
    ['starter-frozen-lake-slippery', 'Qwen/Qwen2.5-1.5B-Instruct', 'group', 'qwen2.5-1.5b-frozen-lake-slippery-grpo'],
  ])(
    'with preset=%s, the model %s and scale_rewards %s starts from the preset %s',
    (preset, model, scale, expected) => {
      const overrides = [`preset=${preset}`, `+model_name_or_path=${model}`, `scale_rewards=${scale}`];
      const { config } = imported([{ name: 'grpo.yaml', text: yaml }], ...overrides);
      expect(config.preset).toBe(expected);
      expect(presetWithModelOf(config)!.config.start.model).toBe(config.start.model);
    },
  );

  test('samples from the full distribution', () => {
    const file = { name: 'grpo.yaml', text: `${yaml}\ntop_p: 0.9\ntop_k: 50\nmin_p: 0.1\n` };
    const { config, texts } = imported([file]);
    expect(config.rollout).toMatchObject({ top_p: 1, top_k: 0, min_p: 0 });
    for (const each of ['top_p = 0.9', 'top_k = 50', 'min_p = 0.1'])
      expect(texts('no_counterpart')).toContain(`${each}: rollouts sample from the full distribution`);
    expect(imported([file], 'top_p=1', 'top_k=0', 'min_p=0').texts('no_counterpart')).not.toContain(
      'full distribution',
    );
  });

  test('has one clip range for all turns', () => {
    const file = { name: 'grpo.yaml', text: yaml };
    const { policy_loss } = imported([file], 'preset=starter-frozen-lake-starpo-s-turn-clip').config;
    expect(policy_loss).toMatchObject({ clip_turn_factor: 1, clip_low: 0.2, clip_high: 0.28 });
  });

  test.each([
    ['importance_sampling_level: sequence', 'dapo', { objective: 'clip', ratio_level: 'sequence', average: 'token' }],
    ['beta: 0', 'cispo', { objective: 'cispo', average: 'token', clip_low: 1, clip_high: 4 }],
    [
      'sapo_temperature_neg: 1.2',
      'sapo',
      { objective: 'sapo', average: 'trajectory', tau_positive: 1, tau_negative: 1.2 },
    ],
  ])('%s with loss_type %s is imported', (line, loss, expected) => {
    const text = yaml.replace(/^(epsilon|epsilon_high|loss_type|beta):.*$/gm, '');
    const files = [{ name: 'grpo.yaml', text: `${text}\nloss_type: ${loss}\nepsilon_high: 5\n${line}\n` }];
    expect(imported(files).config.policy_loss).toMatchObject(expected);
  });

  test('the hint for a wrong number of completions names an override that helps', () => {
    const override = (...overrides: string[]) => importConfig([{ name: 'grpo.yaml', text: yaml }], overrides);
    const wrong = failure('config_invalid', /num_generations = 7/, /for example \+generation_batch_size=63\./);
    expect(() => override('num_generations=7')).toThrow(wrong);
    const { rollout } = override('num_generations=7', '+generation_batch_size=63').config;
    expect(rollout).toMatchObject({ group_size: 7, groups: 9 });
  });

  test.each([
    ['max_steps=-1', 'config_invalid', /max_steps is not set/],
    ['num_generations=7', 'config_invalid', /64 completions per generation are not a multiple of num_generations = 7/],
    ['loss_type=vespo', 'config_unsupported', /loss_type = vespo/],
    ['+save_strategy=epoch', 'config_unsupported', /save_strategy = epoch/],
    ['loss_type=cispo', 'config_unsupported', /^epsilon_high is 0\.28\. .* from 1 to 0\.28\./],
    ['num_generations=1', 'config_invalid', /num_generations must be 2 or more/],
    ['+delta=1', 'config_invalid', /delta must be 1\.28 or more, not 1/],
    ['num_iterations=0', 'config_invalid', /num_iterations must be 1 or more/],
    ['importance_sampling_level=turn', 'config_unsupported', /importance_sampling_level = turn/],
    ['preset=none-such', 'preset_unknown', /none-such/],
  ])('%s is refused', (override, code, message) => {
    expect(() =>
      importConfig([{ name: 'grpo.yaml', text: `${yaml}\nimportance_sampling_level: token\n` }], [override]),
    ).toThrow(failure(code, message));
  });

  test('with CISPO and a bound below 1 is refused with a way out', () => {
    const text = yaml.replace(/^(epsilon|epsilon_high|loss_type):.*$/gm, '');
    const given = (...overrides: string[]) =>
      importConfig([{ name: 'grpo.yaml', text }], ['+loss_type=cispo', ...overrides]);
    expect(() => given()).toThrow(
      failure('config_unsupported', /^epsilon_high is not set and defaults to 0\.2\./, /for example \+epsilon_high=5/),
    );
    expect(given('+epsilon_high=5').config).toMatchObject({ policy_loss: { objective: 'cispo', clip_high: 4 } });
  });
});
