import { describe, expect, test } from 'vitest';
import { importConfig } from '../../core/config-imports/import-config.ts';
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
      preset: 'qwen2.5-0.5b-frozen-lake-grpo',
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
    ['starter-sokoban', 'null', 'starter-sokoban-grpo'],
    ['starter-webshop', 'Qwen/Qwen2.5-0.5B-Instruct', 'qwen2.5-0.5b-frozen-lake-grpo'],
    ['qwen2.5-0.5b-frozen-lake-slippery', 'Qwen/Qwen2.5-1.5B-Instruct', 'qwen2.5-1.5b-frozen-lake-slippery-grpo'],
  ])('with preset=%s and the model %s starts from the preset %s', (preset, model, expected) => {
    const overrides = [`preset=${preset}`, `+model_name_or_path=${model}`];
    expect(imported([{ name: 'grpo.yaml', text: yaml }], ...overrides).config.preset).toBe(expected);
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
    ['num_iterations=0', 'config_invalid', /num_iterations must be 1 or more/],
    ['importance_sampling_level=turn', 'config_unsupported', /importance_sampling_level = turn/],
    ['preset=none-such', 'preset_unknown', /none-such/],
  ])('%s is refused', (override, code, message) => {
    expect(() =>
      importConfig([{ name: 'grpo.yaml', text: `${yaml}\nimportance_sampling_level: token\n` }], [override]),
    ).toThrow(failure(code, message));
  });
});
