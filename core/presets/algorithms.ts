import type { RunConfig } from '../run-config/schema.ts';

/** An algorithm variant of a preset. */
export interface Algorithm {
  suffix: string;
  title: string;
  /** Whether the short preset name refers to this algorithm. */
  default: boolean;
  baseline: boolean;
  method: string;
  changes: (config: RunConfig) => Partial<RunConfig>;
}

/** Adds GAE with a critic as in RAGEN: undiscounted episode reward and whitened advantages. */
const withCritic = (config: RunConfig): Partial<RunConfig> => ({
  advantage: { ...config.advantage, estimator: 'gae', gamma: 1, lambda: 1, whiten: true },
  critic: { ...config.critic, model: 'full' },
});

/** Vanilla StarPO: all groups and a symmetric clip range. */
const unfiltered = (config: RunConfig): Partial<RunConfig> => ({
  filter: { ...config.filter, strategy: 'none', keep: 1 },
  policy_loss: { ...config.policy_loss, clip_low: 0.2, clip_high: 0.2 },
});

export const algorithms: readonly Algorithm[] = [
  {
    suffix: 'starpo-s',
    title: 'StarPO-S (PPO)',
    default: true,
    baseline: false,
    method: 'Trains on the groups with the highest reward std. A critic estimates the return.',
    changes: withCritic,
  },
  {
    suffix: 'ppo',
    title: 'StarPO (PPO)',
    default: false,
    baseline: true,
    method: 'Trains on all groups, with a critic and a small KL penalty. More prone to collapse.',
    changes: (config) => ({
      ...withCritic(config),
      ...unfiltered(config),
      kl: { ...config.kl, coefficient: 0.001, estimator: 'k1', placement: 'reward' },
    }),
  },
  {
    suffix: 'grpo-s',
    title: 'StarPO-S (GRPO)',
    default: false,
    baseline: false,
    method: 'Trains on the groups with the highest reward std. Each episode is compared with its group.',
    changes: () => ({}),
  },
  {
    suffix: 'grpo',
    title: 'StarPO (GRPO)',
    default: false,
    baseline: true,
    method: 'Trains on all groups, without a critic. More prone to collapse.',
    changes: unfiltered,
  },
];
