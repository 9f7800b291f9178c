import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Answer, compute, expectClose } from './compute.ts';
import { root } from './trainer-process.ts';

/** Outputs of the reference implementations, from a set of 163 cases. */
const { cases } = JSON.parse(readFileSync(join(root, 'native/tests/vectors/estimators.json'), 'utf8'));

const otherEstimator = 'the trainer has no such estimator';
const otherLoss = 'the trainer has no such loss';

/** The other cases of the set: name, numbers, reason. */
const leftOut: [name: string, numbers: number[], reason: string][] = [
  ['estimator/gae_through_env', [1, 4], 'older rule of verl that also discounts over environment tokens'],
  ['estimator/bilevel_gae_ragen', [10], 'the reference fails on a last reward of 0'],
  ['estimator/bilevel_gae_turn_start', [1, 4, 7], 'takes the value of a turn from its first token, not its last'],
  ['estimator/grpo_soft_reweight', [1, 4], otherEstimator],
  ['estimator/remax', [1, 4, 7], otherEstimator],
  ['estimator/opo', [1, 4, 7], otherEstimator],
  ['estimator/gpg', [1, 4, 7], otherEstimator],
  ['estimator/grpo_passk', [1, 4, 7], otherEstimator],
  ['estimator/optimal_token_baseline', [1, 4, 7], otherEstimator],
  ['estimator/gigpo_per_turn', [1, 4, 7, 10], 'counts an episode once per turn, unlike the equation of the paper'],
  ['estimator/gigpo_per_episode', [10], 'returns the raw reward for a group of one, the trainer 0'],
  ['estimator/rae', [1, 4], otherEstimator],
  ['loss/geo_mean', [1, 4], otherLoss],
  ['loss/dppo_tv_verl', [1, 4], "caps the ratio and has no quadratic term, unlike prime-rl's, which the trainer has"],
  ['loss/dppo_kl_verl', [1, 4], otherLoss],
  ['loss/clip_cov', [1, 4, 7], otherLoss],
  ['loss/kl_cov', [1, 4], otherLoss],
  ['loss/ipo', [1, 4], otherLoss],
  ['loss/trl_grpo', [4], 'multiplies the KL estimate by the ratio, which the trainer has no setting for'],
  ['loss/trl_cispo', [4], 'a largest ratio below 1 would be a negative clip_high'],
  ['loss/vespo', [1, 4], otherLoss],
  ['loss/value_clip', [1, 4], 'compute has no value loss; native/tests/model_gradient_test.cpp restates it'],
  ['loss/aggregate', [7], 'the number of tokens of the batch is given, not counted'],
  ['loss/kl_penalty', [7], 'the gradient is that of another estimator, which the trainer has no setting for'],
  ['controller/adaptive_kl', [1, 4], 'the trainer has a fixed KL coefficient'],
  ['correction/rollout', [7], 'normalizes weights by their mean, which the trainer has no setting for'],
  ['correction/rollout', [13, 22], 'the trainer has no trust region of k1'],
  [
    'filter/select_groups',
    [7, 10, 13],
    'includes groups with a score of 0 or less, which the trainer never keeps by share',
  ],
  ['filter/select_groups', [16], 'has fewer groups above 0 than its number, which the trainer fills with groups of 0'],
  ['filter/reward_groups', [7], 'has no reward std, so the reference keeps no group and the trainer all'],
  ['filter/reward_groups', [10], 'ranks by negative scores'],
];

const run = new Map<string, number>();

/** Returns the cases that a test runs. */
function casesWith(condition: (each: Answer) => boolean): Answer[] {
  const chosen = cases.filter(condition);
  for (const { id } of chosen) run.set(id, (run.get(id) ?? 0) + 1);
  return chosen;
}

const isGdpo = ({ estimator }: Answer) => /^gdpo/.test(estimator);
const estimatorCases = casesWith((each) => each.estimator && !isGdpo(each));
const gdpoCases = casesWith(isGdpo);
const normalizationCases = casesWith(({ normalisation }) => normalisation);
const penaltyCases = casesWith(({ penalty }) => penalty);
const aggregateCases = casesWith(({ loss }) => loss === 'aggregate');
const klCases = casesWith(({ loss }) => loss === 'kl_penalty');
const lossCases = casesWith(({ loss }) => loss && loss !== 'aggregate' && loss !== 'kl_penalty');
const correctionCases = casesWith(({ correction }) => correction);
const filterCases = casesWith(({ filter }) => filter);

test('every case of the reference implementations is run by one test, or left out for a reason', () => {
  const ids = cases.map(({ id }: Answer) => id);
  expect(ids.filter((id: string) => run.get(id) !== 1)).toEqual([]);
  const others = leftOut.flatMap(([name, numbers]) => numbers.map((number) => `${name}/${number}`));
  expect(new Set([...ids, ...others]).size).toBe(163);
  expect(ids.length + others.length).toBe(163);
});

const deviation = (numbers: number[]) => {
  const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  return Math.sqrt(numbers.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (numbers.length - 1));
};
const scoreOf = ({ turns }: Answer) => turns.reduce((sum: number, { reward }: Answer) => sum + reward, 0);

/** RAGEN ends a turn at a reward other than 0. */
function endedByRewards(turns: Answer[]): Answer[] {
  const merged: Answer[] = [];
  for (const { tokens, reward } of turns) {
    const open = merged.at(-1);
    if (open?.reward === 0) Object.assign(open, { tokens: open.tokens + tokens, reward });
    else merged.push({ tokens, reward });
  }
  return merged;
}

const biLevel = ({ gamma, lambda, turn_gamma, whiten }: Answer) => ({
  ...{ estimator: 'bi_level_gae', gamma, lambda, turn_gamma, whiten },
});

const estimators: Record<string, (settings: Answer) => object> = {
  gae: ({ gamma, lambda, whiten }) => ({ estimator: 'gae', gamma, lambda, whiten }),
  bilevel_gae: biLevel,
  bilevel_gae_ragen: biLevel,
  turn_gae: ({ lambda, turn_gamma, whiten }) => ({ estimator: 'turn_baseline', lambda, turn_gamma, whiten }),
  reinforce_plus_plus: ({ gamma, whiten }) => ({ estimator: 'reinforce_plus_plus', gamma, whiten }),
  reinforce_plus_plus_baseline: ({ whiten }) => ({ estimator: 'dr_grpo', rewards: 'episode', whiten }),
  grpo: ({ norm_by_std }) => ({ estimator: norm_by_std ? 'grpo' : 'dr_grpo' }),
  grpo_trl: ({ scale_rewards }) => ({ estimator: scale_rewards === 'group' ? 'grpo' : 'dr_grpo', rewards: 'episode' }),
  rloo: () => ({ estimator: 'rloo' }),
  rloo_vectorized: () => ({ estimator: 'loop' }),
  maxrl: () => ({ estimator: 'maxrl' }),
  gigpo_per_episode: ({ mode, step_weight, gamma }) => ({
    ...{ estimator: 'gigpo', scale_by_std: mode === 'mean_std_norm', step_weight, turn_gamma: gamma },
  }),
  hgpo: ({ mode, gamma, history, alpha, base_group }) => ({
    ...{ estimator: 'hgpo', scale_by_std: mode === 'mean_std_norm', turn_gamma: gamma, history },
    ...{ history_exponent: alpha, episode_term: base_group },
  }),
};

test('estimators match the reference implementations', () => {
  const requests = estimatorCases.map(({ estimator, settings, episodes }: Answer) => ({
    advantage: { rewards: 'turn', ...estimators[estimator]!(settings) },
    ...(settings.scale_rewards === 'batch' && { reward: { normalization: 'mean_std', normalize_by: 'batch' } }),
    kl: { coefficient: settings.kl_coef ?? 0 },
    episodes: episodes.map(({ turns, ...episode }: Answer) => ({
      ...episode,
      turns: estimator === 'bilevel_gae_ragen' ? endedByRewards(turns) : turns,
    })),
  }));
  for (const [i, answer] of compute(requests).entries()) {
    const { id, estimator, settings, expected, episodes } = estimatorCases[i];
    // TRL adds 1e-4 to standard deviations.
    const advantages = expected.advantages.map((own: number[], e: number) => {
      if (estimator !== 'grpo_trl') return own;
      const inGroup = ({ group }: Answer) => settings.scale_rewards === 'batch' || group === episodes[e].group;
      const std = deviation(episodes.filter(inGroup).map(scoreOf));
      return own.map((each) => (each * (std + 1e-4)) / (std + 1e-6));
    });
    expectClose(answer.advantages, advantages, id);
    // The turn's return is stored at its first token only, which is where the mask is set.
    const masked = answer.value_targets?.map((targets: number[], e: number) =>
      targets.map((target, t) => (answer.value_mask[e][t] ? target : 0)),
    );
    if (episodes[0].values && estimator !== 'reinforce_plus_plus') expectClose(masked, expected.returns, id);
  }
});

test('GDPO normalizes each component, then whitens over tokens as verl or over episodes as TRL', () => {
  const requests = gdpoCases.map(({ estimator, episodes }: Answer) => ({
    advantage: { estimator: 'dr_grpo', whiten: true, whiten_over: estimator === 'gdpo_trl' ? 'episodes' : 'tokens' },
    reward: { normalization: 'mean_std', normalize_terms: true },
    episodes,
  }));
  for (const [i, { advantages }] of compute(requests).entries()) {
    const { id, estimator, expected } = gdpoCases[i];
    // TRL adds 1e-4 to standard deviations.
    expectClose(advantages, expected.advantages, id, estimator === 'gdpo' ? 1e-9 : 5e-4);
  }
});

test('reward normalization matches the reference implementation', () => {
  const scopes: Record<string, string> = { state: 'group', inductive: 'environment', batch: 'batch' };
  const methods: Record<string, string> = { asym_clip: 'asymmetric_clip' };
  const requests = normalizationCases.map(({ settings: { grouping, method }, episodes }: Answer) => ({
    // Without a discount, this estimator returns the score.
    advantage: { estimator: 'reinforce_plus_plus', rewards: 'episode' },
    reward: { normalization: methods[method] ?? method, normalize_by: scopes[grouping] },
    episodes: episodes.map(({ group, tag, reward, penalty }: Answer) => ({
      // A group of RAGEN may span tags; ours belongs to one environment.
      ...{ group, environment: grouping === 'inductive' ? tag : 0 },
      turns: [{ tokens: 1, reward: reward + penalty }],
    })),
  }));
  for (const [i, answer] of compute(requests).entries())
    expectClose(answer.advantages.flat(), normalizationCases[i].expected.scores, normalizationCases[i].id);
});

test('a KL estimate lowers the reward of its token as in the reference implementation', () => {
  const requests = penaltyCases.map(({ settings: { type, coef }, sequences }: Answer) => ({
    // Without a discount, this estimator returns the rewards to go.
    advantage: { estimator: 'reinforce_plus_plus' },
    kl: { coefficient: coef },
    episodes: sequences.map(({ turn_lengths, rewards, old_logprobs, ref_logprobs }: Answer, group: number) => ({
      group,
      turns: turn_lengths.map((tokens: number, k: number) => ({ tokens, reward: rewards[k] })),
      kl: old_logprobs.map((each: number, t: number) => {
        const d = each - ref_logprobs[t];
        return type === 'k1' ? d : d ** 2 / 2;
      }),
    })),
  }));
  for (const [i, { advantages }] of compute(requests).entries()) {
    const rewards = advantages.map((own: number[]) => own.map((each, t) => each - (own[t + 1] ?? 0)));
    expectClose(rewards, penaltyCases[i].expected.token_rewards, penaltyCases[i].id);
  }
});

const averages: Record<string, string> = {
  ...{ 'token-mean': 'token', 'seq-mean-token-sum': 'trajectory_sum', 'seq-mean-token-mean': 'trajectory' },
};
const correctionLevels: Record<string, object> = {
  token_mask: { weights: 'mask', level: 'token' },
  sequence_mask: { weights: 'mask', level: 'sequence' },
};
const trlClip = ({ epsilon_low, epsilon_high }: Answer) => ({ clip_low: epsilon_low, clip_high: epsilon_high });

/** Sections of run.json for the settings of a reference loss. */
const losses: Record<string, (settings: Answer) => object> = {
  ppo_clip: ({ aggregation, ...clips }) => ({ policy_loss: { ...clips, average: averages[aggregation] } }),
  gspo: (clips) => ({ policy_loss: { ...clips, ratio_level: 'sequence' } }),
  cispo: ({ aggregation, ...clips }) => ({
    policy_loss: { ...clips, objective: 'cispo', average: averages[aggregation] },
  }),
  // -A log p, which is CISPO with every ratio clipped to 1.
  gpg: ({ aggregation }) => ({
    policy_loss: { objective: 'cispo', clip_low: 0, clip_high: 0, average: averages[aggregation] },
  }),
  sapo: ({ tau_pos, tau_neg }) => ({
    policy_loss: { objective: 'sapo', tau_positive: tau_pos, tau_negative: tau_neg },
  }),
  dppo: ({ low, high, kl_tau }) => ({
    policy_loss: { objective: 'dppo', clip_low: low, clip_high: high, log_ratio_penalty: kl_tau, average: 'token' },
  }),
  trl_grpo: (clips) => ({ policy_loss: trlClip(clips) }),
  trl_bnpo: ({ beta = 0, ...clips }) => ({
    policy_loss: { ...trlClip(clips), average: 'token' },
    kl: { coefficient: beta, estimator: 'k3', placement: 'loss' },
  }),
  trl_dr_grpo: ({ max_completion_length, delta = 0, ...clips }) => ({
    policy_loss: { ...trlClip(clips), dual_clip: delta, average: 'fixed_length' },
    longest: max_completion_length,
  }),
  trl_dapo: ({ importance, ...clips }) => ({
    policy_loss: { ...trlClip(clips), average: 'token' },
    ...(importance && {
      correction: { ...correctionLevels[importance.mode], low: importance.min ?? 0, high: importance.max },
    }),
  }),
  // TRL clips the ratio above at epsilon_high, not at 1 + epsilon_high, and not below.
  trl_cispo: ({ epsilon_high }) => ({
    policy_loss: { objective: 'cispo', clip_low: 1, clip_high: epsilon_high - 1, average: 'token' },
  }),
  trl_sapo: ({ tau_pos, tau_neg }) => ({
    policy_loss: { objective: 'sapo', tau_positive: tau_pos, tau_negative: tau_neg },
  }),
  // The loss of a sequence is multiplied by its length.
  luspo: (clips) => ({ policy_loss: { ...trlClip(clips), ratio_level: 'sequence', average: 'trajectory_sum' } }),
};

test('policy losses and their gradients match the reference implementations', () => {
  const requests = lossCases.map(({ loss, settings, sequences }: Answer) => ({
    ...losses[loss]!(settings),
    sequences: sequences.map(({ ref_logprobs, advantages, ...rest }: Answer) => ({
      ...{ rollout_logprobs: rest.old_logprobs, ...rest },
      ...(ref_logprobs && { reference_logprobs: ref_logprobs }),
      advantages: advantages.map((each: number) => each * (settings.adv_tau ?? 1)),
    })),
  }));
  expect(new Set(lossCases.map(({ loss }: Answer) => loss))).toEqual(new Set(Object.keys(losses)));
  for (const [i, answer] of compute(requests).entries()) {
    const { id, expected, loss } = lossCases[i];
    // verl divides means per sequence by n + 1e-8.
    const tolerance = loss === 'gspo' || loss === 'sapo' ? 1e-8 : 1e-9;
    expectClose(answer.loss, expected.loss, id, tolerance);
    expectClose(answer.gradient, expected.gradient, id, tolerance);
    if (loss === 'ppo_clip')
      expectClose(answer.clip_fraction_low + answer.clip_fraction_high, expected.metrics.pg_clipfrac, id, 1e-8);
  }
});

test('averages over tokens and sequences match the reference implementation', () => {
  const requests = aggregateCases.map(({ settings: { mode }, sequences }: Answer) => ({
    policy_loss: { average: averages[mode] },
    // At a ratio of 1, the loss of a token is -A, and its gradient -A times the weight of the token.
    sequences: sequences
      .filter(({ losses }: Answer) => losses.length > 0)
      .map(({ losses }: Answer) => ({
        ...{ logprobs: losses, rollout_logprobs: losses, advantages: losses.map((each: number) => -each) },
      })),
  }));
  for (const [i, answer] of compute(requests).entries()) {
    const { id, expected, sequences } = aggregateCases[i];
    // verl divides means per sequence by n + 1e-8.
    expectClose(answer.loss, expected.loss, id, 1e-8);
    const gradient = expected.gradient
      .map((own: number[], s: number) => own.map((each, t) => each * sequences[s].losses[t]))
      .filter((own: number[]) => own.length > 0);
    expectClose(answer.gradient, gradient, id, 1e-8);
  }
});

test('KL estimates and their gradients match the reference implementation', () => {
  const requests = klCases.map(({ settings: { type }, sequences }: Answer) => ({
    policy_loss: { average: 'trajectory_sum' },
    kl: { coefficient: 1, estimator: type, placement: 'loss' },
    sequences: sequences.map(({ logprobs, ref_logprobs }: Answer) => ({
      ...{ logprobs, rollout_logprobs: logprobs, reference_logprobs: ref_logprobs },
      advantages: logprobs.map(() => 0),
    })),
  }));
  for (const [i, answer] of compute(requests).entries()) {
    const { id, expected, sequences } = klCases[i];
    // The reference adds up the sequences, whose mean ours is.
    expectClose(answer.loss * sequences.length, expected.loss, id);
    const gradient = answer.gradient.map((own: number[]) => own.map((each) => each * sequences.length));
    expectClose(gradient, expected.gradient, id);
  }
});

test('importance weights and trust regions match the reference implementations', () => {
  const region = (reject: string) =>
    /^(token|seq)(_max|_mean|_sum)?_(k\d)$/.exec(reject)!.slice(1) as [string, string | undefined, string];
  const requests = correctionCases.map(
    ({ settings: { mode, min, max, weights, threshold, reject, reject_threshold }, sequences }: Answer) => {
      const [level, by = '', divergence] = reject ? region(reject) : ['', '', 'k3'];
      const correction = mode
        ? { ...correctionLevels[mode], low: min ?? 0, high: max }
        : reject
          ? { trust_region: level === 'token' ? level : `sequence${by}`, divergence, bound: reject_threshold }
          : { weights: 'truncate', level: weights, high: threshold };
      const filled = sequences.map((each: Answer) => ({
        ...{ ...each, logprobs: each.old_logprobs, advantages: each.old_logprobs.map(() => 1) },
      }));
      return { policy_loss: {}, correction, sequences: filled };
    },
  );
  for (const [i, { correction }] of compute(requests).entries()) {
    const { id, expected } = correctionCases[i];
    expectClose(correction.weights, expected.weights ?? expected.mask, id);
  }
});

const strategies: Record<string, string> = { top_k_abs: 'top_k', top_k: 'fraction' };

test('filters keep the groups of the reference implementation', () => {
  const requests = filterCases.map(({ settings, scores, groups }: Answer) => {
    const { metric, strategy = 'top_k', type, value, ratio, prob_mode, eps } = settings;
    // RAGEN-2 ranks given scores or the mean reward, which is what `length` is here; version 1 ranks by reward std.
    const byStd = metric === 'reward_variance' || ratio !== undefined;
    const ranked: number[] = scores ?? groups.map(deviation);
    // RAGEN-2 stops when the sum is 0.01 below its share.
    const slack =
      strategy === 'top_p' && prob_mode === 'linear' && value < 1 ? eps / ranked.reduce((a, b) => a + b) : 0;
    return {
      filter: {
        strategy: prob_mode === 'softmax' ? 'softmax' : (strategies[strategy] ?? strategy),
        ...{ score: byStd ? 'reward_std' : 'length', order: ratio === undefined ? type : 'largest' },
        ...(strategy === 'top_k_abs' ? { count: value } : { keep: (ratio ?? value) - slack }),
      },
      groups: groups ?? scores.map((score: number) => [score]),
    };
  });
  for (const [i, { kept }] of compute(requests).entries())
    expect(kept, filterCases[i].id).toEqual(filterCases[i].expected.kept.toSorted((a: number, b: number) => a - b));
});
