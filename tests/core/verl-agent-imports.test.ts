import { describe, expect, test } from 'vitest';
import { importConfig } from '../../core/config-imports/import-config.ts';
import { failure, imported } from './fixtures/imported-config.ts';

describe("verl-agent's overrides", () => {
  const overrides = [
    ...['algorithm.adv_estimator=grpo', 'data.train_batch_size=32', 'data.val_batch_size=128', 'env.rollout.n=8'],
    ...[
      'env.env_name=Sokoban',
      'env.seed=7',
      'env.max_steps=15',
      'env.sokoban.dim_room=[6,6]',
      'env.sokoban.num_boxes=1',
    ],
    ...['actor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B-Instruct', 'actor_rollout_ref.actor.optim.lr=1e-6'],
    ...['actor_rollout_ref.actor.ppo_mini_batch_size=64', 'actor_rollout_ref.actor.use_kl_loss=True'],
    ...['actor_rollout_ref.actor.kl_loss_coef=0.01', 'actor_rollout_ref.actor.kl_loss_type=low_var_kl'],
    ...[
      'actor_rollout_ref.actor.use_invalid_action_penalty=True',
      'actor_rollout_ref.actor.invalid_action_penalty_coef=0.2',
    ],
    ...['actor_rollout_ref.rollout.val_kwargs.temperature=0.4', 'actor_rollout_ref.rollout.val_kwargs.do_sample=True'],
    ...['trainer.total_epochs=150', 'trainer.test_freq=5', 'actor_rollout_ref.rollout.name=vllm', 'trainer.nnodes=1'],
  ];

  test('become a configuration', () => {
    const { config, texts } = imported([], ...overrides);
    expect(config).toMatchObject({
      preset: 'qwen2.5-1.5b-sokoban-grpo',
      iterations: 150,
      rollout: { groups: 32, group_size: 8, max_response_tokens: 512, context_turns: 3 },
      levels: { train_seed: 7 },
      reward: { format_penalty: -0.2 },
      kl: { coefficient: 0.01, estimator: 'k3', placement: 'loss' },
      policy_loss: { mini_batch: 64 },
      evaluation: { every: 5, levels: 128, temperature: 0.4 },
    });
    expect(config.environments).toMatchObject([
      {
        type: 'sokoban',
        config: { dim_x: 6, num_boxes: 1, search_depth: 30 },
        max_turns: 15,
        max_actions: 15,
        max_actions_per_turn: 1,
      },
    ]);
    expect(texts('no_counterpart')).toContain('trainer.nnodes');
  });

  test.each([
    ['grpo', 'qwen2.5-0.5b-sokoban-grpo'],
    ['gae', 'qwen2.5-0.5b-sokoban-ppo'],
  ])('without a model and with %s start from the preset %s', (estimator, preset) => {
    const { config } = imported([], 'env.env_name=Sokoban', `algorithm.adv_estimator=${estimator}`);
    expect(config).toMatchObject({ preset, start: { model: 'Qwen2.5-0.5B-Instruct' } });
  });

  test.each([
    [14, { context_turns: 15 }, 'Includes the current turn.'],
    [15, { context_turns: 0 }, 'The history covers the whole episode.'],
    [1000, { context_turns: 0 }, 'The history covers the whole episode.'],
  ])('a history of %i turns is imported for episodes of 15 turns', (turns, rollout, why) => {
    const { config, texts } = imported([], ...overrides, `env.history_length=${turns}`);
    expect(config.rollout).toMatchObject(rollout);
    expect(texts('changed')).toContain(
      `env.history_length = ${turns} is rollout.context_turns = ${rollout.context_turns}. ${why}`,
    );
  });

  test.each([
    [100, 100, 'trainer.total_training_steps = 100 is iterations = 100. It ends before trainer.total_epochs = 150.'],
    [200, 150, 'trainer.total_epochs = 150 is iterations = 150. It ends before trainer.total_training_steps = 200'],
  ])('%i steps and 150 epochs are %i iterations', (steps, iterations, note) => {
    const { config, texts } = imported([], ...overrides, `trainer.total_training_steps=${steps}`);
    expect(config.iterations).toBe(iterations);
    expect(texts('changed')).toContain(note);
  });

  test.each([
    ['env.history_length=-1', /^env\.history_length must be 0 or more, not -1\.$/],
    ['env.max_steps=101', /^env\.max_steps: environments\.0\.max_turns must be 100 or less/],
    ['env.sokoban.dim_room=[6]', /^env\.sokoban\.dim_room must be a list of two numbers, not \[6\]\.$/],
    ['actor_rollout_ref.actor.ppo_mini_batch_size=0', /ppo_mini_batch_size must be 1 or more, not 0\.$/],
    ['actor_rollout_ref.actor.kl_loss_coef=-0.1', /kl_loss_coef must be 0 or more, not -0\.1\.$/],
    ['actor_rollout_ref.actor.optim.lr_warmup_steps_ratio=2', /must be between 0 and 1, not 2\.$/],
    ['actor_rollout_ref.actor.optim.lr=.inf', /optim\.lr must be a number, not Infinity\.$/],
  ])('%s is refused', (override, message) => {
    const [setting] = override.split('=');
    const hint = new RegExp(`${setting}=VALUE`);
    expect(() => imported([], ...overrides, override)).toThrow(failure('config_invalid', message, hint));
  });

  test.each([
    ['foo=bar', 'foo'],
    ['algoritm.gamma=1', 'algoritm.gamma'],
    ['trainer.total_epoch=9', 'trainer.total_epoch'],
  ])('need + for a key that does not exist: %s', (override, key) => {
    const message = `${key} is not a setting of the imported configuration.`;
    expect(() => imported([], ...overrides, override)).toThrow(failure('config_invalid', message, /\+/));
    expect(imported([], ...overrides, `+${override}`).texts('no_counterpart')).toContain(key);
  });

  test('become WebShop with rewards for perfect purchases', () => {
    const shop = ['env.env_name=Webshop', 'env.max_steps=15', '++env.webshop.use_small=False'];
    const { config, texts } = imported([], ...overrides, ...shop);
    expect(config).toMatchObject({
      ...{ preset: 'custom', start: { model: 'Qwen2.5-1.5B-Instruct' } },
      ...{ rollout: { context: 15_000, slots: 32, context_turns: 3 }, reward: { environment_weight: 10 } },
    });
    expect(config.environments).toMatchObject([
      {
        ...{ type: 'webshop', max_turns: 15, max_actions: 15, max_actions_per_turn: 1 },
        config: { catalogue: 'synthetic:1000:1', wrapper: 'ragen_v2', human_goals: false },
      },
    ]);
    expect(texts('no_counterpart')).toContain("env.webshop.use_small = false: WebShop's products are not included");
    expect(texts('changed')).toContain('verl-agent evaluates on the first 500 goals.');
  });

  test('with groups of one episode play no extra rounds', () => {
    const sampling = ['env.rollout.n=1', 'algorithm.filter_groups.enable=True'];
    const { config, texts } = imported([], ...overrides, ...sampling);
    expect(config.rollout.extra_rounds).toBe(0);
    expect(texts('no_counterpart')).toContain('filter_groups.enable = true: a group of one episode has no reward std.');
  });

  test('with another environment are rejected', () => {
    expect(() => importConfig([], ['env.env_name=alfworld/AlfredTWEnv'])).toThrow(
      failure('config_unsupported', /env\.env_name = alfworld/),
    );
  });
});
