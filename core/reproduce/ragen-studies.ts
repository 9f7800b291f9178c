import type { Claim, Column, Measure, PaperNumber, PaperStudy } from './paper-study.ts';
import {
  actionCounts,
  bandit,
  banditRev,
  gridTasks,
  has,
  mainTasks,
  type PaperTask,
  promptCounts,
  reasoningTasks,
  reuses,
  webShop,
} from './ragen-sweeps.ts';

/** Studies of the RAGEN paper (arXiv 2504.20073): figures 5 and 7 to 11, tables 1 to 4. Curves are quoted as text. */

const success = (environment: string): Column[] => [
  { title: 'Best success', measure: { success: 'best', environment } },
  { title: 'Final success', measure: { success: 'after', environment } },
];
const collapse: Column = { title: 'Collapsed', measure: { collapsed: true } };
const final = (environment: string): Measure => ({ success: 'after', environment });
const metric = (name: string, at: 'first' | 'last', unit: 'share' | 'tokens'): Measure => ({ metric: name, at, unit });

/** The paper evaluates on 256 prompts. */
const percent = (value: number): PaperNumber => ({ share: value / 100, n: 256 });

const generalized = [
  { title: 'Sokoban', environment: 'sokoban' },
  { title: 'NewVocab', environment: 'new-vocab' },
  { title: 'LargeSokoban', environment: 'large-sokoban' },
  { title: 'FrozenLake', environment: 'frozen-lake' },
] as const;
const columnsOf = (titles: readonly string[]): Column[] =>
  generalized
    .filter(({ title }) => titles.includes(title))
    .map(({ title, environment }) => ({ title, measure: final(environment) }));
const numbers = (titles: readonly string[], values: readonly number[]) =>
  Object.fromEntries(titles.map((title, index) => [title, percent(values[index]!)]));

const withoutWebShop = 'WebShop: its pages need a model with a long context, such as qwen2.5-3b.';
const withoutBanditRev =
  'BanditRev: its arm names mislead only a model that knows words, which the starter policy does not.';

/** Collapse iterations from the text of section 4.1. */
const vanilla: Record<string, Record<string, string> | undefined> = {
  bandit: { PPO: 'collapses near iteration 100', GRPO: 'collapses near iteration 20' },
  sokoban: { PPO: 'collapses near iteration 50', GRPO: 'collapses near iteration 10' },
  'frozen-lake-slippery': { PPO: 'collapses near iteration 90', GRPO: 'more stable than PPO' },
};

/** Success of StarPO-S in figure 9. */
const stable: Record<string, number | undefined> = { bandit: 100, sokoban: 20.3, 'frozen-lake-slippery': 21.8 };

const prompts = ['Sokoban', 'NewVocab', 'FrozenLake'];
const table2 = [
  [21.09, 20.22, 17.97],
  [20.31, 21.48, 19.53],
  [20.31, 19.53, 17.19],
  [20.7, 25.39, 21.48],
  [19.92, 25.0, 12.5],
  [19.53, 22.27, 12.5],
];
const granularity = generalized.map(({ title }) => title);
const table3 = [
  [12.11, 13.67, 1.17, 11.72],
  [16.41, 21.09, 3.52, 18.36],
  [19.53, 19.53, 1.95, 20.88],
  [26.95, 26.95, 5.08, 20.7],
  [28.13, 25.78, 6.25, 21.09],
  [33.59, 31.64, 6.64, 18.36],
  [22.27, 28.52, 3.91, 19.53],
];

const table4: Record<string, Record<'StarPO-S' | 'NoThink', Record<string, PaperNumber>>> = {
  bandit: { 'StarPO-S': { Bandit: percent(100) }, NoThink: { Bandit: percent(81.25) } },
  'bandit-inverted': { 'StarPO-S': { BanditRev: percent(67.58) }, NoThink: { BanditRev: percent(56.25) } },
  sokoban: {
    'StarPO-S': numbers(granularity.slice(0, 3), [21.48, 18.75, 2.34]),
    NoThink: numbers(granularity.slice(0, 3), [20.73, 26.17, 2.73]),
  },
  'frozen-lake-slippery': { 'StarPO-S': { FrozenLake: percent(19.92) }, NoThink: { FrozenLake: percent(19.53) } },
};

/** One claim per grid task. */
const perTask = (claim: (task: PaperTask) => Claim): Claim[] => gridTasks.map(claim);

/** Returns the studies with the tasks that a model can learn. */
export const ragenStudies = (model: string): readonly PaperStudy[] => [
  {
    id: 'figure-5',
    title: 'Figure 5: StarPO without stabilization',
    question: 'Does vanilla StarPO collapse, and does a critic delay it?',
    constant: 'Episodes per iteration, iterations, KL coefficient and clip range.',
    rows: mainTasks(model).flatMap(({ name, environment }) =>
      ['PPO', 'GRPO'].map((point) => ({
        ...{ sweep: `vanilla-${name}`, point, columns: [...success(environment), collapse] },
        ...(vanilla[name]?.[point] && { paper: { Collapsed: vanilla[name][point] } }),
      })),
    ),
    claims: [
      ...[bandit, gridTasks[0]!].map(
        ({ name, title, environment }): Claim => ({
          text: `${title}: PPO reaches a higher final success than GRPO.`,
          higher: { sweep: `vanilla-${name}`, point: 'PPO' },
          lower: { sweep: `vanilla-${name}`, point: 'GRPO' },
          measure: final(environment),
        }),
      ),
      {
        text: 'FrozenLake: GRPO reaches a higher final success than PPO.',
        higher: { sweep: 'vanilla-frozen-lake-slippery', point: 'GRPO' },
        lower: { sweep: 'vanilla-frozen-lake-slippery', point: 'PPO' },
        measure: final('frozen-lake'),
      },
    ],
    missing: has(model, webShop) ? [] : [withoutWebShop],
  },
  {
    id: 'figure-7',
    title: 'Figure 7: share of prompts kept by the filter',
    question: 'Does training on the prompts with the highest reward std prevent collapse?',
    constant: 'Episodes per iteration and iterations. A smaller share has fewer updates per iteration.',
    rows: gridTasks.flatMap(({ name, environment }) =>
      (['ppo', 'grpo'] as const).flatMap((algorithm) =>
        ['100 %', '75 %', '50 %', '25 %'].map((point) => ({
          ...{ sweep: `filter-${algorithm}-${name}`, point, columns: [...success(environment), collapse] },
          ...(algorithm === 'ppo' &&
            name === 'frozen-lake-slippery' && {
              paper: {
                Collapsed:
                  { '100 %': 'near iteration 100', '75 %': 'near iteration 140' }[point] ?? 'not in 200 iterations',
              },
            }),
        })),
      ),
    ),
    claims: perTask(({ name, title, environment }) => ({
      text: `${title}, PPO: a quarter of the prompts reaches a higher final success than all of them.`,
      higher: { sweep: `filter-ppo-${name}`, point: '25 %' },
      lower: { sweep: `filter-ppo-${name}`, point: '100 %' },
      measure: final(environment),
    })),
    missing: [],
  },
  {
    id: 'figure-8',
    title: 'Figure 8: KL penalty and clip range',
    question: 'Do removing the KL penalty and raising the upper clip range help PPO?',
    constant: 'Episodes and updates per iteration, and iterations.',
    rows: gridTasks.flatMap(({ name, environment }) =>
      ['KL, clip 0.2', 'KL, clip 0.28', 'no KL, clip 0.2'].map((point) => ({
        ...{ sweep: `clip-${name}`, point, columns: [...success(environment), collapse] },
      })),
    ),
    claims: ['KL, clip 0.28', 'no KL, clip 0.2'].flatMap((point) =>
      perTask(({ name, title, environment }) => ({
        text: `${title}: “${point}” peaks higher than “KL, clip 0.2”.`,
        higher: { sweep: `clip-${name}`, point },
        lower: { sweep: `clip-${name}`, point: 'KL, clip 0.2' },
        measure: { success: 'best', environment },
      })),
    ),
    missing: [],
  },
  {
    id: 'figure-9',
    title: 'Figure 9: StarPO-S against StarPO',
    question: 'Does StarPO-S end higher than StarPO?',
    constant: 'Episodes per iteration and iterations.',
    rows: mainTasks(model).flatMap(({ name, environment }) =>
      [
        { sweep: `vanilla-${name}`, point: 'PPO' },
        { sweep: `stable-${name}`, point: 'StarPO-S' },
      ].map((place) => ({
        ...place,
        columns: [...success(environment), collapse],
        ...(place.point === 'StarPO-S' &&
          stable[name] !== undefined && { paper: { 'Final success': percent(stable[name]) } }),
      })),
    ),
    claims: mainTasks(model).map(({ name, title, environment }) => ({
      text: `${title}: StarPO-S reaches a higher final success than StarPO (PPO).`,
      higher: { sweep: `stable-${name}`, point: 'StarPO-S' },
      lower: { sweep: `vanilla-${name}`, point: 'PPO' },
      measure: final(environment),
    })),
    missing: has(model, webShop) ? [] : [withoutWebShop],
  },
  {
    id: 'figure-10',
    title: 'Figure 10: updates per rollout (online-k)',
    question: 'Do fresher rollouts improve the policy more for the same number of updates?',
    constant:
      "Updates and episodes per update. “Rollout reuse” updates k times on one rollout, as in the caption, so online-k plays a k-th of the episodes. “Larger rollouts” splits a rollout of k times the size into k updates, as in RAGEN's script, so all play the same number.",
    rows: ['reuse', 'fresh'].flatMap((sweep) =>
      reuses.map((k) => ({ sweep, point: `online-${k}`, columns: success('sokoban') })),
    ),
    claims: ['reuse', 'fresh'].map((sweep) => ({
      text: `${sweep === 'reuse' ? 'Rollout reuse' : 'Larger rollouts'}: online-1 reaches a higher final success than online-10.`,
      higher: { sweep, point: 'online-1' },
      lower: { sweep, point: 'online-10' },
      measure: final('sokoban'),
    })),
    missing: [],
  },
  {
    id: 'figure-11',
    title: 'Figure 11: length of the reasoning',
    question: 'Does the reasoning become shorter during training?',
    constant: 'Algorithm (StarPO-S), episodes per iteration and iterations. The runs are those of figure 9.',
    rows: reasoningTasks(model).map(({ name }) => ({
      ...{ sweep: `stable-${name}`, point: 'StarPO-S' },
      columns: (['first', 'last'] as const).map((at) => ({
        title: `Tokens per turn, ${at} ten iterations`,
        measure: metric('rollout/think_tokens', at, 'tokens'),
      })),
      paper: { 'Tokens per turn, last ten iterations': 'declines' },
    })),
    claims: reasoningTasks(model).map(({ name, title }) => ({
      text: `${title}: reasoning is longer in the first ten iterations than in the last.`,
      higher: { sweep: `stable-${name}`, point: 'StarPO-S' },
      lower: { sweep: `stable-${name}`, point: 'StarPO-S' },
      measure: metric('rollout/think_tokens', 'first', 'tokens'),
      lowerMeasure: metric('rollout/think_tokens', 'last', 'tokens'),
    })),
    missing: has(model, banditRev) ? [] : [withoutBanditRev],
  },
  {
    id: 'table-1',
    title: 'Table 1: reasoning early and late in training on Bandit',
    question: 'Does reasoning become repetitive?',
    constant: 'The arms and the prompt. The runs are those of figure 5.',
    rows: ['PPO', 'GRPO'].map((point) => ({
      ...{ sweep: 'vanilla-bandit', point },
      columns: (['first', 'last'] as const).flatMap((at) => [
        {
          title: `Distinct reasoning texts, ${at} ten iterations`,
          measure: metric('rollout/distinct_first_thoughts', at, 'share'),
        },
        {
          title: `Similarity, ${at} ten iterations`,
          measure: metric('rollout/thought_likeness_in_group', at, 'share'),
        },
      ]),
      paper: {
        'Similarity, first ten iterations': 'varied reasons (examples)',
        'Similarity, last ten iterations': 'the same sentence, “choose Dragon” (examples)',
      },
    })),
    claims: [
      {
        text: 'GRPO: reasoning is more similar in the last ten iterations than in the first.',
        higher: { sweep: 'vanilla-bandit', point: 'GRPO' },
        lower: { sweep: 'vanilla-bandit', point: 'GRPO' },
        measure: metric('rollout/thought_likeness_in_group', 'last', 'share'),
        lowerMeasure: metric('rollout/thought_likeness_in_group', 'first', 'share'),
      },
    ],
    missing: [],
  },
  {
    id: 'table-2',
    title: 'Table 2: prompts and rollouts per prompt',
    question: 'How should a fixed number of episodes be divided into prompts and rollouts per prompt?',
    constant:
      '128 episodes per iteration, of which a quarter is trained on in one update; without groups (one rollout per prompt), all are trained on.',
    rows: promptCounts.map((count, index) => ({
      ...{ sweep: 'prompts', point: `${count} × ${128 / count}`, columns: columnsOf(prompts) },
      paper: numbers(prompts, table2[index]!),
    })),
    claims: ['NewVocab', 'FrozenLake'].map((title) => ({
      text: `${title}: 32 prompts × 4 generalize better than 8 × 16. (Another reading of the paper prefers 8 × 16; with 256 prompts its difference is within the intervals.)`,
      higher: { sweep: 'prompts', point: '32 × 4' },
      lower: { sweep: 'prompts', point: '8 × 16' },
      measure: columnsOf([title])[0]!.measure,
    })),
    missing: [],
  },
  {
    id: 'table-3',
    title: 'Table 3: actions per turn',
    question: 'How many actions per turn are best?',
    constant:
      'Turns per episode (5), episodes per iteration and iterations. More actions per turn allow more actions per episode.',
    rows: actionCounts.map((count, index) => ({
      ...{ sweep: 'actions', point: String(count), columns: columnsOf(granularity) },
      paper: numbers(granularity, table3[index]!),
    })),
    claims: [
      {
        text: 'Sokoban: 5 actions per turn are better than 1.',
        higher: { sweep: 'actions', point: '5' },
        lower: { sweep: 'actions', point: '1' },
        measure: final('sokoban'),
      },
      {
        text: 'Sokoban: 6 actions per turn are better than 7.',
        higher: { sweep: 'actions', point: '6' },
        lower: { sweep: 'actions', point: '7' },
        measure: final('sokoban'),
      },
    ],
    missing: [],
  },
  {
    id: 'table-4',
    title: 'Table 4: generalization with and without reasoning',
    question: 'Does reasoning help on the trained and on other tasks?',
    constant: 'Algorithm (StarPO-S), episodes per iteration and iterations.',
    rows: reasoningTasks(model).flatMap(({ name, title, environment }) =>
      (['StarPO-S', 'NoThink'] as const).map((point) => ({
        ...{ sweep: `think-${name}`, point },
        columns: name === 'sokoban' ? columnsOf(granularity.slice(0, 3)) : [{ title, measure: final(environment) }],
        paper: table4[name]![point],
      })),
    ),
    claims: [
      {
        text: 'Bandit: reasoning is better than none.',
        higher: { sweep: 'think-bandit', point: 'StarPO-S' },
        lower: { sweep: 'think-bandit', point: 'NoThink' },
        measure: final('bandit'),
      },
      {
        text: 'NewVocab: no reasoning is better.',
        higher: { sweep: 'think-sokoban', point: 'NoThink' },
        lower: { sweep: 'think-sokoban', point: 'StarPO-S' },
        measure: final('new-vocab'),
      },
    ],
    missing: has(model, banditRev)
      ? []
      : [`${withoutBanditRev} The paper reports 67.58 % with and 56.25 % without reasoning.`],
  },
];
