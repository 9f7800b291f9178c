import type { RunConfig } from '../run-config/schema.ts';

/** An algorithm variant of a preset. */
export interface Algorithm {
  suffix: string;
  title: string;
  baseline: boolean;
  /** Whether it is one of RAGEN's four variants. Most others compare or estimate turns, so only tasks with several turns have them. */
  starpo: boolean;
  method: string;
  changes: (config: RunConfig) => Partial<RunConfig>;
}

/** The suffix of the algorithm that a short preset name refers to, unless a comparison recommends another. */
export const defaultSuffix = 'starpo-s';

/** Adds GAE with a critic as in RAGEN: undiscounted episode reward and whitened advantages. */
const withCritic = (config: RunConfig): Partial<RunConfig> => ({
  advantage: { ...config.advantage, estimator: 'gae', gamma: 1, lambda: 1, whiten: true },
  critic: { ...config.critic, model: 'full' },
});

/** Sets an estimator on top of StarPO-S's filter and clip range, so that presets differ in the estimator only. */
const estimate =
  (advantage: Partial<RunConfig['advantage']>, critic: RunConfig['critic']['model'] = 'none'): Algorithm['changes'] =>
  (config) => ({
    advantage: { ...config.advantage, ...advantage },
    critic: { ...config.critic, model: critic },
  });

/** GSPO's ratio per sequence, with the clip range of its paper. */
const perSequence = { ratio_level: 'sequence', clip_low: 3e-4, clip_high: 4e-4 } as const;

/** RAGEN-2's early-stop rules. */
export const ragen2Stops: RunConfig['early_stop'] = { reward_std: 0.1, failed_evaluations: 5, empty_filters: 5 };

/** An algorithm of another paper, with the filter and clip range of StarPO-S unless it has its own. */
const other = (suffix: string, title: string, method: string, changes: Algorithm['changes']): Algorithm => ({
  ...{ suffix, title, method, changes },
  ...{ baseline: false, starpo: false },
});

/** Vanilla StarPO: all groups and a symmetric clip range. */
const unfiltered = (config: RunConfig): Partial<RunConfig> => ({
  filter: { ...config.filter, strategy: 'none', keep: 1 },
  policy_loss: { ...config.policy_loss, clip_low: 0.2, clip_high: 0.2 },
});

/** The four variants of the RAGEN paper. */
export const starpoVariants: readonly Algorithm[] = [
  {
    suffix: 'starpo-s',
    title: 'StarPO-S (PPO)',
    baseline: false,
    starpo: true,
    method: 'Trains on the groups with the highest reward std. A critic estimates the return.',
    changes: withCritic,
  },
  {
    suffix: 'ppo',
    title: 'StarPO (PPO)',
    baseline: true,
    starpo: true,
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
    baseline: false,
    starpo: true,
    method: 'Trains on the groups with the highest reward std. Each episode is compared with its group.',
    changes: () => ({}),
  },
  {
    suffix: 'grpo',
    title: 'StarPO (GRPO)',
    baseline: true,
    starpo: true,
    method: 'Trains on all groups, without a critic. More prone to collapse.',
    changes: unfiltered,
  },
];

/** Algorithms of other papers. Rewards count in their turn where the estimator reads turns. */
const otherAlgorithms: readonly Algorithm[] = [
  other(
    'starpo-s-v2',
    'StarPO-S v2 (PPO)',
    "Trains on the groups with the highest reward std that together reach 90 % of the summed reward std, and stops early by RAGEN-2's rules. A critic estimates the return.",
    (config) => ({
      ...withCritic(config),
      filter: { ...config.filter, strategy: 'top_p', keep: 0.9 },
      early_stop: ragen2Stops,
    }),
  ),
  other(
    'gigpo',
    'GiGPO',
    'Compares each episode with its group, and each turn with other turns at the same state.',
    estimate({ estimator: 'gigpo', rewards: 'turn', turn_gamma: 0.95 }),
  ),
  other(
    'hgpo',
    'HGPO',
    'Compares each turn with other turns at the same state. Turns with a longer shared history count more.',
    estimate({ estimator: 'hgpo', rewards: 'turn', turn_gamma: 0.95 }),
  ),
  other(
    'loop',
    'LOOP',
    'Compares each episode with the mean of the others in its group.',
    estimate({ estimator: 'loop' }),
  ),
  other(
    'reinforce-plus-plus',
    'REINFORCE++',
    'Compares each token with all trained tokens of the iteration.',
    estimate({ estimator: 'reinforce_plus_plus', whiten: true }),
  ),
  other(
    'bi-level-gae',
    'Bi-level GAE',
    'A critic assigns rewards to turns first, then to the tokens of each turn.',
    estimate({ estimator: 'bi_level_gae', rewards: 'turn', turn_gamma: 0.95, whiten: true }, 'full'),
  ),
  other(
    'trajectory-baseline',
    'Trajectory baseline',
    'A linear value head on the policy estimates the reward of the episode at its start.',
    estimate({ estimator: 'trajectory_baseline', whiten: true }, 'head'),
  ),
  other(
    'starpo-s-turn-clip',
    'StarPO-S (trajectory baseline, clip per turn)',
    'A linear value head on the policy estimates the reward of the episode at its start. Early turns are clipped more tightly than late ones.',
    (config) => ({
      ...estimate({ estimator: 'trajectory_baseline', whiten: true }, 'head')(config),
      // The third turn has about the clip range of StarPO-S.
      policy_loss: { ...config.policy_loss, clip_low: 0.15, clip_high: 0.21, clip_turn_factor: 1.2 },
    }),
  ),
  other(
    'turn-baseline',
    'Turn baseline',
    'A linear value head on the policy estimates the return at the start of each turn.',
    estimate({ estimator: 'turn_baseline', rewards: 'turn', turn_gamma: 0.95, whiten: true }, 'head'),
  ),
  other(
    'turn-level',
    'Turn-level PPO',
    'PPO with turns instead of tokens: a critic, one ratio and one clip per turn.',
    (config) => ({
      ...estimate({ estimator: 'turn_baseline', rewards: 'turn', turn_gamma: 0.95, whiten: true }, 'full')(config),
      policy_loss: { ...config.policy_loss, ratio_level: 'turn' },
    }),
  ),
  other(
    'gspo',
    'GSPO',
    'Compares each episode with its group. One ratio and one narrow clip range per sequence.',
    (config) => ({
      policy_loss: { ...config.policy_loss, ...perSequence },
    }),
  ),
  other(
    'sampo',
    'SAMPO',
    "GiGPO's advantages with GSPO's ratio per sequence, on the groups whose rewards differ, with a small KL penalty.",
    (config) => ({
      ...estimate({ estimator: 'gigpo', rewards: 'turn', turn_gamma: 0.95 })(config),
      // Only groups without any reward std are dropped.
      filter: { ...config.filter, strategy: 'top_p', keep: 1 },
      policy_loss: { ...config.policy_loss, ...perSequence },
      kl: { ...config.kl, coefficient: 0.01, estimator: 'k3', placement: 'loss' },
    }),
  ),
];

export const algorithms: readonly Algorithm[] = [...starpoVariants, ...otherAlgorithms];
