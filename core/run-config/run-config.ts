/** Written by `npm run describe` from what the trainer says of run.json; docs/formats/run-config.md explains it. */

export interface EnvironmentConfig {
  label: string;
  type: string;
  config: Record<string, unknown>;
  share: number;
  validate: boolean;
  noise: 'shared' | 'independent' | 'reference';
  max_turns: number;
  max_actions_per_turn: number;
  max_actions: number;
  prompt: {
    system: string;
    first: string;
    next: string;
  };
}

export interface RunConfig {
  version: number;
  preset: string;
  task: 'reinforce' | 'warm_start';
  seed: number;
  device: string;
  threads: number;
  precision: 'fp32' | 'bf16';
  exactness: 'exact' | 'fast';
  iterations: number;
  start: {
    model: string;
    weights: 'load' | 'random';
    sha256: string;
    run: string;
    checkpoint: number;
    keep_optimizer: boolean;
  };
  parent: {
    run: string;
    iteration: number;
  };
  environments: EnvironmentConfig[];
  rollout: {
    groups: number;
    group_size: number;
    slots: number;
    temperature: number;
    top_p: number;
    top_k: number;
    min_p: number;
    max_response_tokens: number;
    context: number;
    think: boolean;
  };
  levels: {
    train_seed: number;
    validation_seed: number;
    pool: number;
  };
  reward: {
    format_penalty: number;
  };
  filter: {
    strategy: 'none' | 'fraction' | 'top_p';
    keep: number;
  };
  advantage: {
    estimator: 'grpo' | 'dr_grpo' | 'rloo' | 'gae';
    gamma: number;
    lambda: number;
    whiten: boolean;
  };
  policy_loss: {
    clip_low: number;
    clip_high: number;
    dual_clip: number;
    entropy_coefficient: number;
    average: 'trajectory' | 'token' | 'trajectory_sum' | 'fixed_length';
    mini_batch: number;
    epochs: number;
  };
  optimizer: {
    learning_rate: number;
    warmup: number;
    schedule: 'constant' | 'linear' | 'cosine';
    beta1: number;
    beta2: number;
    epsilon: number;
    weight_decay: number;
    gradient_clip: number;
    micro_batch_tokens: number;
    recompute: 'none' | 'elementwise' | 'block';
  };
  critic: {
    model: 'none' | 'full' | 'head';
    learning_rate: number;
    value_clip: number;
    gradient_clip: number;
    warmup: number;
  };
  kl: {
    coefficient: number;
    estimator: 'k1' | 'k2' | 'k3';
    placement: 'reward' | 'loss';
    reference: string;
  };
  evaluation: {
    every: number;
    levels: number;
    temperature: number;
  };
  checkpoint: {
    every: number;
    keep: number;
  };
  rollout_files: {
    keep_last: number;
    keep_every: number;
  };
  storage: {
    budget_gigabytes: number;
  };
  warm_start: {
    steps_per_iteration: number;
    batch: number;
    plain: number;
    positions: number;
    careful: number;
    mistakes: number;
  };
  diagnostics: {
    every: number;
    samples: number;
    probe: boolean;
  };
  automatic_action: 'notify' | 'pause' | 'stop' | 'rollback';
}
