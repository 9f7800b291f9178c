import type { RunConfig } from '../run-config/schema.ts';

/** What the presets of a task differ in. */
export interface Algorithm {
  suffix: string;
  title: string;
  /** Whether the short name without an algorithm means this one. */
  default: boolean;
  baseline: boolean;
  method: string;
  changes: (config: RunConfig) => Partial<RunConfig>;
}

/** Generalised advantage estimation with a critic, as RAGEN has it: an episode's score, undiscounted, and whitened advantages. */
const withCritic = (config: RunConfig): Partial<RunConfig> => ({
  advantage: { estimator: 'gae', gamma: 1, lambda: 1, whiten: true },
  critic: { ...config.critic, model: 'full' },
});

/** Vanilla StarPO: all groups, and one clip for both sides. */
const unfiltered = (config: RunConfig): Partial<RunConfig> => ({
  filter: { strategy: 'none', keep: 1 },
  policy_loss: { ...config.policy_loss, clip_low: 0.2, clip_high: 0.2 },
});

export const algorithms: readonly Algorithm[] = [
  {
    suffix: 'starpo-s',
    title: 'StarPO-S (PPO)',
    default: true,
    baseline: false,
    method: 'Learns from levels whose attempts differ most. A critic estimates the return.',
    changes: withCritic,
  },
  {
    suffix: 'ppo',
    title: 'StarPO (PPO)',
    default: false,
    baseline: true,
    method:
      'Learns from every level, with a critic and a small penalty for leaving the start. More prone to collapse.',
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
    method: 'Learns from levels whose attempts differ most. Each attempt is compared with its group.',
    changes: () => ({}),
  },
  {
    suffix: 'grpo',
    title: 'StarPO (GRPO)',
    default: false,
    baseline: true,
    method: 'Learns from every level, without a critic. More prone to collapse.',
    changes: unfiltered,
  },
];
