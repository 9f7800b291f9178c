import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answersTo, compute, expectClose } from './compute.ts';
import { type Episode, restate, restateNormalizedTerms, type Settings } from './estimator-restatement.ts';
import { correctionWeight, type LossRequest, restateLoss } from './loss-restatement.ts';
import { root } from './trainer-process.ts';

test('the gate drops groups without an advantage above it, before whitening', () => {
  const scores = [
    [0, 0.2],
    [0, 2],
  ];
  const episodes = scores.flatMap((group, g) => group.map((reward) => ({ group: g, turns: [{ tokens: 1, reward }] })));
  const [answer] = compute([{ advantage: { estimator: 'dr_grpo', gate: 0.5, whiten: true }, episodes }]);
  expect(answer.trained).toEqual([false, false, true, true]);
  expectClose(answer.advantages, [[0], [0], [-Math.SQRT1_2], [Math.SQRT1_2]], 'gated', 1e-7);
});

const gdpo = { normalization: 'mean_std', normalize_terms: true };

test('whitening over episodes averages A and its squared deviation over the tokens of each episode first', () => {
  const episodes = [
    { group: 0, turns: [{ tokens: 3, reward: 1 }] },
    { group: 0, turns: [{ tokens: 1, reward: 0 }] },
  ];
  const advantage = { estimator: 'reinforce_plus_plus', gamma: 0.5, whiten: true, whiten_over: 'episodes' };
  const [answer] = compute([{ advantage, episodes }]);
  // A is 1/4, 1/2, 1 and 0. Its mean per episode is 7/12 and 0.
  const center = 7 / 24;
  const squares = (0.25 - center) ** 2 + (0.5 - center) ** 2 + (1 - center) ** 2;
  const scale = Math.sqrt(squares / 3 + center ** 2 + 1e-8);
  const expected = [[0.25, 0.5, 1], [0]].map((own) => own.map((each) => (each - center) / scale));
  expectClose(answer.advantages, expected, 'advantages');
});

test('scores normalized over the batch, then compared in the group, are those of Lite PPO', () => {
  const scores = [0, 1, 5, 7];
  const episodes = scores.map((reward, i) => ({ group: Math.floor(i / 2), turns: [{ tokens: 1, reward }] }));
  const reward = { normalization: 'mean_std', normalize_by: 'batch' };
  const [answer] = compute([{ advantage: { estimator: 'dr_grpo', rewards: 'episode' }, reward, episodes }]);
  const deviation = Math.sqrt(scores.reduce((sum, score) => sum + (score - 3.25) ** 2, 0) / 3);
  const differences = [-0.5, 0.5, -1, 1];
  expectClose(
    answer.advantages,
    differences.map((each) => [each / (deviation + 1e-6)]),
    'advantages',
  );
});

test('normalized terms and whitening match a direct implementation', () => {
  const next = random(11);
  const weights: Record<string, number> = { environment: 1, format: 0.5, success: 2 };
  const reward = { ...gdpo, environment_weight: 1, format_penalty: -0.5, success_bonus: 2 };
  const requests = Array.from({ length: 20 }, (_, i) => ({
    advantage: { estimator: 'dr_grpo', whiten: i % 4 > 0, whiten_over: i % 2 ? 'episodes' : 'tokens' },
    reward,
    episodes: randomEpisodes(next).map(({ group, turns }) => ({
      group,
      turns: turns.map(({ tokens, reward: environment }) => ({
        ...{ tokens, terms: { environment, format: next() < 0.3 ? -0.5 : 0, ...(next() < 0.5 && { success: 2 }) } },
      })),
    })),
  }));
  for (const [i, { advantages }] of compute(requests).entries())
    expectClose(
      advantages,
      restateNormalizedTerms(requests[i]!.episodes, weights, requests[i]!.advantage),
      `${i}`,
      1e-8,
    );
});

test('min_p, softmax and top_p also rank from the smallest score, and never keep a score of 0', () => {
  const groups = [[4], [1], [0], [2], [1.5]];
  const kept = (filter: object) => compute([{ filter: { score: 'entropy', ...filter }, groups }])[0].kept;
  expect(kept({ strategy: 'top_p', keep: 0.5, order: 'smallest' })).toEqual([1, 3, 4]);
  expect(kept({ strategy: 'min_p', keep: 0.6, order: 'smallest' })).toEqual([1, 4]);
  expect(kept({ strategy: 'min_p', keep: 0.4 })).toEqual([0, 3]);
  expect(kept({ strategy: 'min_p', keep: 0 })).toEqual([0, 1, 3, 4]);
  expect(kept({ strategy: 'softmax', keep: 0.6, order: 'smallest' })).toEqual([1, 4]);
  expect(kept({ strategy: 'top_k', count: 2, order: 'smallest' })).toEqual([1, 4]);
  const all = compute([{ filter: { strategy: 'top_k', count: 5, score: 'entropy' }, groups }])[0];
  expect(all.kept).toEqual([0, 1, 2, 3, 4]);
  expect(all.warnings).toEqual([expect.stringContaining('groups with zero entropy were kept too')]);
});

/** Reproducible numbers in [0, 1). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

/** Episodes of unequal lengths, with ties, zero rewards, groups of one episode and repeated states. */
function randomEpisodes(next: () => number): Episode[] {
  const whole = (limit: number) => Math.floor(next() * limit);
  return [3, 1, 4, 2].flatMap((size, group) =>
    Array.from({ length: size }, () => {
      const turns = Array.from({ length: 1 + whole(4) }, () => ({
        tokens: 1 + whole(3),
        reward: group === 3 ? 0.5 : [0, 0, 1, -0.1, 0.3][whole(5)]!,
        state: 'abc'[whole(3)]!,
      }));
      const tokens = turns.reduce((sum, turn) => sum + turn.tokens, 0);
      const numbers = () => Array.from({ length: tokens }, () => next() * 2 - 1);
      return { group, turns, values: numbers(), kl: numbers() };
    }),
  );
}

const names = [
  'grpo',
  'dr_grpo',
  'rloo',
  'loop',
  'maxrl',
  'gigpo',
  'hgpo',
  'reinforce_plus_plus',
  'gae',
  'bi_level_gae',
];

test.each([...names, 'trajectory_baseline', 'turn_baseline'])('%s matches a direct implementation', (estimator) => {
  const next = random(7);
  const requests = Array.from({ length: 40 }, (_, i) => {
    const advantage: Settings = {
      ...{ estimator, rewards: i % 2 ? 'turn' : 'episode', gamma: i % 3 ? 0.9 : 1, lambda: i % 5 ? 0.8 : 1 },
      ...{ turn_gamma: i % 4 ? 0.95 : 1, scale_by_std: i % 2 === 0, step_weight: 0.5 + (i % 3) },
      ...{ history: i % 4, history_exponent: (i % 3) / 2, episode_term: i % 7 < 3 },
    };
    return { advantage, kl: { coefficient: i % 2 ? 0.1 : 0 }, episodes: randomEpisodes(next) };
  });
  for (const [i, answer] of compute(requests).entries()) {
    const { advantage, kl, episodes } = requests[i]!;
    for (const [e, episode] of episodes.entries()) {
      const expected = restate(episodes, episode, advantage, kl.coefficient);
      const name = `request ${i}, episode ${e}`;
      expectClose(answer.advantages[e], expected.advantages, name, 1e-8);
      expectClose(answer.value_targets?.[e] ?? null, expected.targets, name, 1e-8);
      expect(answer.value_mask?.[e] ?? null, name).toEqual(expected.mask);
    }
  }
});

/** Requests with every option of the loss in turn, on samples of unequal lengths, of which two belong to one episode. */
function randomLosses(next: () => number): LossRequest[] {
  const pick = <T>(...values: T[]) => values[Math.floor(next() * values.length)]!;
  return Array.from({ length: 60 }, (_, i) => {
    const objective = (['clip', 'clip', 'cispo', 'sapo', 'dppo'] as const)[i % 5]!;
    const ratio_level = objective === 'clip' ? pick('token', 'turn', 'sequence', 'trajectory') : 'token';
    const perTurn = objective !== 'sapo' && (ratio_level === 'token' || ratio_level === 'turn');
    const sequences = [0, 1, 1, 2].map((episode) => {
      const turn_lengths = Array.from({ length: 1 + Math.floor(next() * 3) }, () => 1 + Math.floor(next() * 3));
      const tokens = turn_lengths.reduce((total, each) => total + each, 0);
      const near = (center: number[]) => center.map((each) => each + (next() - 0.5) * 0.6);
      const logprobs = Array.from({ length: tokens }, () => -0.2 - 2 * next());
      const old_logprobs = near(logprobs);
      const A = next() - 0.5;
      return {
        ...{ logprobs, old_logprobs, rollout_logprobs: near(old_logprobs), reference_logprobs: near(logprobs) },
        advantages: logprobs.map(() => (episode === 2 ? 0 : objective === 'clip' ? A : next() - 0.5)),
        entropies: logprobs.map(() => next()),
        reasoning: logprobs.map(() => next() < 0.6),
        imitation: logprobs.map(() => (episode === 1 ? next() : 0)),
        ...{ turn_lengths, episode },
      };
    });
    return {
      policy_loss: {
        ...{ objective, ratio_level, clip_low: 0.1, clip_high: 0.15 },
        clip_turn_factor: perTurn ? pick(1, 1.5) : 1,
        dual_clip: objective === 'clip' ? pick(0, 1.1) : 0,
        ...{ tau_positive: 0.8, tau_negative: 1.2 },
        ...{ entropy_coefficient: pick(0, 0.1), entropy_tokens: pick('all', 'reasoning') },
        ...{ log_ratio_penalty: pick(0, 0.2), likelihood_coefficient: pick(0, 0.3) },
        likelihood_gate: pick('response', 'turn'),
        cross_entropy_coefficient: pick(0, 0.2),
        average: pick('trajectory', 'token', 'trajectory_sum', 'fixed_length'),
      },
      correction: {
        ...{ weights: pick('none', 'truncate', 'mask'), level: pick('token', 'sequence', 'sequence_mean') },
        ...{ low: 0.85, high: 1.15, divergence: pick('k2', 'k3'), bound: 0.02 },
        trust_region: pick('none', 'token', 'sequence_max', 'sequence_mean', 'sequence_sum'),
      },
      kl: { coefficient: pick(0, 0.2), estimator: pick('k2', 'k3'), placement: 'loss' },
      ...{ sequences, longest: 12 },
    };
  });
}

test('every policy loss matches a direct implementation, and its gradient matches finite differences', () => {
  const requests = randomLosses(random(5));
  for (const [i, answer] of compute(requests).entries()) {
    const request = requests[i]!;
    const name = `request ${i}: ${JSON.stringify([request.policy_loss, request.correction, request.kl])}`;
    expectClose(answer.loss, restateLoss(request, request), name, 1e-9);
    const terms: number[] = Object.values(answer.terms);
    expectClose(
      terms.reduce((sum, term) => sum + term, 0),
      answer.loss,
      name,
    );
    const step = 1e-6;
    const numeric = request.sequences.map(({ logprobs }, s) =>
      logprobs.map((_, t) => {
        const at = (by: number) => {
          const copy = structuredClone(request);
          copy.sequences[s]!.logprobs[t]! += by;
          return restateLoss(copy, request);
        };
        return (at(step) - at(-step)) / (2 * step);
      }),
    );
    expectClose(answer.gradient, numeric, name, 1e-7);
    if (request.correction.weights === 'none' && request.correction.trust_region === 'none') continue;
    const weights = request.sequences.map((each) =>
      each.logprobs.map((_, t) => correctionWeight(each, t, request.correction)),
    );
    expectClose(answer.correction.weights, weights, name);
    const masked = weights.flatMap((own, s) =>
      own.filter((each, t) => each === 0 && request.sequences[s]!.advantages[t]! < 0),
    );
    expect(answer.correction.masked.negative, name).toBe(masked.length);
  }
});

test('at a ratio of 1, every ratio level has the gradient of the token level', () => {
  const sequences = [
    { logprobs: [-1, -2, -0.5], rollout_logprobs: [-1, -2, -0.5], advantages: [1, 1, -2], turn_lengths: [2, 1] },
  ];
  const levels = ['token', 'turn', 'sequence', 'trajectory'];
  const gradients = compute(levels.map((ratio_level) => ({ policy_loss: { ratio_level }, sequences }))).map(
    ({ gradient }) => gradient,
  );
  for (const gradient of gradients) expectClose(gradient, [[-1 / 3, -1 / 3, 2 / 3]], 'gradient');
});

const turns = [{ tokens: 1, reward: 0 }];

test.each([
  ['not JSON', '{', 'malformed_line'],
  ['a list', '[]', 'malformed_line'],
  ['an unknown request', '{"loss": {}}', 'malformed_line'],
  ['no episodes', { advantage: {}, episodes: [] }, 'request_invalid'],
  ['an unknown key', { advantage: {}, episodes: [{ group: 0, turns }], extra: 1 }, 'request_invalid'],
  ['a missing group', { advantage: {}, episodes: [{ turns }] }, 'request_invalid'],
  ['an episode without turns', { advantage: {}, episodes: [{ group: 0, turns: [] }] }, 'request_invalid'],
  ['a turn without tokens', { advantage: {}, episodes: [{ group: 0, turns: [{ tokens: 0 }] }] }, 'request_invalid'],
  ['missing values', { advantage: { estimator: 'gae' }, episodes: [{ group: 0, turns }] }, 'request_invalid'],
  ['too few KL values', { advantage: {}, episodes: [{ group: 0, turns, kl: [] }] }, 'request_invalid'],
  [
    'a text as reward',
    { advantage: {}, episodes: [{ group: 0, turns: [{ tokens: 1, reward: 'a' }] }] },
    'request_invalid',
  ],
  [
    'a huge reward',
    { advantage: {}, episodes: [{ group: 0, turns: [{ tokens: 1, reward: 1e200 }] }] },
    'request_invalid',
  ],
  ['an unknown estimator', { advantage: { estimator: 'best' }, episodes: [{ group: 0, turns }] }, 'config_invalid'],
  ['an unknown setting', { advantage: { lamda: 1 }, episodes: [{ group: 0, turns }] }, 'config_invalid'],
  [
    'normalized scores with rewards of turns',
    { advantage: { estimator: 'gigpo' }, reward: { normalization: 'mean' }, episodes: [{ group: 0, turns }] },
    'config_invalid',
  ],
  ['KL in the loss of an advantage', { advantage: {}, kl: { placement: 'loss' }, episodes: [{}] }, 'config_invalid'],
  [
    'lists of unequal lengths',
    { policy_loss: {}, sequences: [{ logprobs: [0], rollout_logprobs: [], advantages: [1] }] },
    'request_invalid',
  ],
  [
    'an overflowing ratio',
    { policy_loss: {}, sequences: [{ logprobs: [900], rollout_logprobs: [0], advantages: [-1] }] },
    'non_finite_result',
  ],
  ['KL in the reward of a loss', { policy_loss: {}, kl: { placement: 'reward' }, sequences: [{}] }, 'config_invalid'],
  ['an empty group', { filter: {}, groups: [[]] }, 'request_invalid'],
])('%s is answered with an error, and the next line with its result', (_, request, code) => {
  const valid = '{"filter": {"strategy": "fraction", "keep": 0.5}, "groups": [[0, 1], [1, 1]]}';
  const [failed, answered] = answersTo([typeof request === 'string' ? request : JSON.stringify(request), valid]);
  expect(failed).toMatchObject({ error: { code, message: expect.stringMatching(/.{10}/) } });
  expect(answered).toEqual({ kept: [0], warnings: [] });
});

test('a group whose mean is 0 but for rounding has no MaxRL advantages', () => {
  const groups = [
    [0.1, 0.2, -0.3],
    [0.9, -0.3, -0.3, -0.3],
    [1e6, -0.7e6, -0.1e6, -0.1e6, -0.1e6],
  ];
  const requests = groups.map((rewards) => ({
    advantage: { estimator: 'maxrl' },
    episodes: rewards.map((reward) => ({ group: 0, turns: [{ tokens: 1, reward }] })),
  }));
  for (const [i, { advantages }] of compute(requests).entries()) expect(advantages).toEqual(groups[i]!.map(() => [0]));
});

test('normalized terms include components, whatever other terms an episode has, and rewards without terms', () => {
  const request = (episodes: object[]) => ({
    advantage: { estimator: 'dr_grpo' },
    reward: { normalization: 'mean_std', normalize_terms: true },
    episodes: episodes.map((episode) => ({ group: 0, ...episode })),
  });
  const success = { tokens: 1, terms: { success: 1 } };
  const [components, rewards] = compute([
    request([
      { turns: [{ tokens: 1 }], components: [0.3] },
      { turns: [success], components: [10.9] },
    ]),
    request([{ turns: [{ tokens: 1, reward: 0 }] }, { turns: [{ tokens: 1, reward: 1 }] }]),
  ]);
  expectClose(components!.advantages, [[-Math.SQRT2], [Math.SQRT2]], 'components', 1e-5);
  expectClose(rewards!.advantages, [[-Math.SQRT1_2], [Math.SQRT1_2]], 'rewards', 1e-5);
});

test('softmax and top_p keep every group with a score if keep is 1', () => {
  const groups = [
    [0, 1],
    [0, 40],
    [0, 0],
  ];
  const answers = compute(['softmax', 'top_p'].map((strategy) => ({ filter: { strategy, keep: 1 }, groups })));
  expect(answers.map(({ kept }) => kept)).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test('a part of reward.program can be given', () => {
  const [answer] = compute([{ advantage: {}, reward: { program: { weight: 2 } }, episodes: [{ group: 0, turns }] }]);
  expect(answer).toMatchObject({ advantages: [[0]] });
});

test('contradictory loss settings are rejected with a fix', () => {
  const contradictions: [object, string][] = [
    [{ ratio_level: 'sequence', objective: 'cispo' }, 'policy_loss.ratio_level: must be token'],
    [{ ratio_level: 'turn', objective: 'dppo' }, 'policy_loss.ratio_level: must be token'],
    [{ objective: 'sapo', dual_clip: 3 }, 'policy_loss.dual_clip: must be 0'],
    [{ objective: 'sapo', clip_turn_factor: 2 }, 'policy_loss.clip_turn_factor: must be 1'],
    [{ ratio_level: 'trajectory', clip_turn_factor: 2 }, 'policy_loss.clip_turn_factor: must be 1'],
  ];
  const answers = compute(contradictions.map(([policy_loss]) => ({ policy_loss, sequences: [{}] })));
  for (const [i, { error }] of answers.entries())
    expect(error).toEqual({
      code: 'config_invalid',
      message: expect.stringContaining(contradictions[i]![1]),
      hint: expect.stringContaining('in the configuration'),
    });
});

test('the worked examples of docs/algorithms.md are right, and every estimator has one', () => {
  const page = readFileSync(join(root, 'docs/algorithms.md'), 'utf8');
  const examples = [...page.matchAll(/```json request\n(.*?)\n```\n\n```json answer\n(.*?)\n```/gs)];
  const requests = examples.map(([, request]) => JSON.parse(request!));
  expect(requests.flatMap(({ advantage }) => advantage?.estimator ?? [])).toEqual(
    expect.arrayContaining([...names, 'trajectory_baseline', 'turn_baseline']),
  );
  for (const [i, answer] of compute(requests).entries()) {
    const expected = JSON.parse(examples[i]![2]!);
    for (const [key, value] of Object.entries(expected))
      expectClose(answer[key], value, `${examples[i]![1]}: ${key}`, 1e-4);
  }
});
