import { configVersion, type EnvironmentConfig, type RunConfig } from './schema.ts';

/** RAGEN's of both grids: up to 5 turns of 5 actions, 10 actions in all. */
const gridRules = {
  share: 1,
  validate: true,
  noise: 'shared',
  max_turns: 5,
  max_actions_per_turn: 5,
  max_actions: 10,
  prompt: { system: '', first: '{state}', next: '{state}' },
} as const;

/** FrozenLake as RAGEN trains it: 4x4. */
export const frozenLakeEnvironment: EnvironmentConfig = {
  label: 'frozen-lake',
  type: 'frozen-lake',
  config: { size: 4, p: 0.8, is_slippery: false, success_rate: 0.8, observation_format: 'grid' },
  ...gridRules,
};

/** Gymnasium's slips, which RAGEN's FrozenLake has too: a third of the moves go where they were meant to, as many to each side. */
export const slipperyEnvironment = {
  ...frozenLakeEnvironment,
  config: { ...frozenLakeEnvironment.config, is_slippery: true, success_rate: 1 / 3 },
} as EnvironmentConfig;

/** RAGEN's simple Sokoban: 6x6 with one box. */
export const sokobanEnvironment: EnvironmentConfig = {
  label: 'sokoban',
  type: 'sokoban',
  config: {
    dim_x: 6,
    dim_y: 6,
    num_boxes: 1,
    max_steps: 100,
    search_depth: 300,
    grid_lookup: { 0: '#', 1: '_', 2: 'O', 3: '√', 4: 'X', 5: 'P', 6: 'S' },
  },
  ...gridRules,
};

/** RAGEN's Bandit: Phoenix pays 0.1 always, Dragon 1 in a quarter of the pulls; one choice. Each member of a group draws its own payout. */
export const banditEnvironment: EnvironmentConfig = {
  label: 'bandit',
  type: 'bandit',
  config: {
    lo_arm_name: 'Phoenix',
    hi_arm_name: 'Dragon',
    lo_arm_score: 0.1,
    hi_arm_loscore: 0,
    hi_arm_hiscore: 1,
    hi_arm_hiscore_prob: 0.25,
  },
  share: 1,
  validate: true,
  noise: 'independent',
  max_turns: 1,
  max_actions_per_turn: 1,
  max_actions: 1,
  prompt: { system: '', first: '{arm_1} or {arm_2}?', next: '{state}' },
};

/** The starter policy learning FrozenLake by StarPO-S with GRPO advantages, and the settings of a critic for those that take one; presets say what differs. */
export const baseConfig: RunConfig = {
  version: configVersion,
  preset: 'custom',
  task: 'reinforce',
  seed: 1,
  device: 'cpu',
  threads: 0,
  precision: 'fp32',
  exactness: 'exact',
  iterations: 120,
  start: { model: 'starter', weights: 'load', sha256: '' },
  environments: [frozenLakeEnvironment],
  rollout: {
    groups: 16,
    group_size: 16,
    slots: 256,
    temperature: 1,
    top_p: 1,
    top_k: 0,
    min_p: 0,
    max_response_tokens: 96,
    context: 768,
    think: true,
  },
  levels: { train_seed: 10000, validation_seed: 123, pool: 0 },
  reward: { format_penalty: -0.1 },
  filter: { strategy: 'fraction', keep: 0.5 },
  advantage: { estimator: 'grpo', gamma: 1, lambda: 1, whiten: false },
  policy_loss: {
    clip_low: 0.2,
    clip_high: 0.28,
    dual_clip: 0,
    entropy_coefficient: 0.003,
    average: 'trajectory',
    mini_batch: 64,
    epochs: 1,
  },
  optimizer: {
    learning_rate: 1e-4,
    warmup: 0,
    schedule: 'constant',
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weight_decay: 0.01,
    gradient_clip: 1,
    micro_batch_tokens: 4096,
    recompute: 'none',
  },
  critic: { model: 'none', learning_rate: 5e-4, value_clip: 0.5, gradient_clip: 1, warmup: 0 },
  kl: { coefficient: 0, estimator: 'k1', placement: 'reward', reference: '' },
  evaluation: { every: 20, levels: 256, temperature: 0.5 },
  checkpoint: { every: 20, keep: 2 },
  rollout_files: { keep_last: 0, keep_every: 10 },
  storage: { budget_gigabytes: 0 },
  warm_start: {
    steps_per_iteration: 50,
    batch: 16,
    plain: 0.4,
    positions: 0.2,
    careful: 0.4,
    mistakes: 0.6,
  },
};
