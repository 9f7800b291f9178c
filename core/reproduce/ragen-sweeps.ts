import type { Settings } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { findPreset, presets } from '../presets/presets.ts';
import type { EnvironmentConfig } from '../run-config/schema.ts';
import type { PaperSweep } from './paper-study.ts';

/** Sweeps of the RAGEN paper (arXiv 2504.20073, section 4) for a model: the starter, or a published one such as `qwen2.5-0.5b`. */

export interface PaperTask {
  name: string;
  title: string;
  /** Label of the environment whose success is compared. */
  environment: string;
}

const sokoban: PaperTask = { name: 'sokoban', title: 'Sokoban', environment: 'sokoban' };
const lake: PaperTask = { name: 'frozen-lake-slippery', title: 'FrozenLake', environment: 'frozen-lake' };
export const bandit: PaperTask = { name: 'bandit', title: 'Bandit', environment: 'bandit' };
/** Success on names that were not trained on, as in table 4. */
export const banditRev: PaperTask = {
  ...{ name: 'bandit-inverted', title: 'BanditRev' },
  environment: 'bandit-inverted-unseen',
};
export const webShop: PaperTask = { name: 'webshop', title: 'WebShop', environment: 'webshop' };
export const gridTasks = [sokoban, lake];

/** Returns whether a model has presets for a task. */
export const has = (model: string, { name }: PaperTask): boolean => presetIds.has(`${model}-${name}-starpo-s`);
const presetIds = new Set(presets.map(({ id }) => id));

/** Returns the tasks of figures 5 and 9 for a model. */
export const mainTasks = (model: string): PaperTask[] =>
  [bandit, ...gridTasks, webShop].filter((task) => has(model, task));

/** Returns the tasks of figure 11 and table 4 for a model. */
export const reasoningTasks = (model: string): PaperTask[] =>
  [bandit, banditRev, ...gridTasks].filter((task) => has(model, task));

const grpo: Settings = { 'advantage.estimator': 'grpo', 'advantage.whiten': false, 'critic.model': 'none' };

/** Prompts and rollouts per prompt of table 2, which make 128 episodes. */
export const promptCounts = [4, 8, 16, 32, 64, 128] as const;
export const actionCounts = [1, 2, 3, 4, 5, 6, 7] as const;
/** Optimizer updates per rollout of figure 10. */
export const reuses = [1, 2, 5, 10] as const;

/** Symbols of RAGEN's SokobanDifferentGridVocab. */
const newSymbols = { 0: 'W', 1: '.', 2: 'G', 3: 'C', 4: 'B', 5: 'A', 6: '@' };
const newLegend =
  'W is wall, . is floor, G is a target, B is a box, C is a box on a target, A is you, @ is you on a target.';

/** Returns the environments of tables 2 to 4: trained on Sokoban, and evaluated on other symbols, larger rooms and FrozenLake. */
function generalization(model: string): EnvironmentConfig[] {
  const of = (task: string) => findPreset(`${model}-${task}-starpo-s`).config.environments[0]!;
  const sokoban = of('sokoban');
  const first = sokoban.prompt.first.replace(/# is wall.*?\./, newLegend);
  const evaluated = { share: 0, validate: true };
  return [
    sokoban,
    {
      ...{ ...sokoban, ...evaluated, label: 'new-vocab' },
      config: { ...sokoban.config, grid_lookup: newSymbols },
      prompt: { ...sokoban.prompt, first },
    },
    {
      ...{ ...sokoban, ...evaluated, label: 'large-sokoban' },
      config: { ...sokoban.config, dim_x: 8, dim_y: 8, num_boxes: 2, search_depth: 10 },
    },
    { ...of('frozen-lake-slippery'), ...evaluated },
  ];
}

/** Models with presets of the paper's tasks: `starter`, `qwen2.5-0.5b`, ... */
export const paperModels: readonly string[] = presets.flatMap(
  ({ id }) => /^(.+)-sokoban-starpo-s$/.exec(id)?.[1] ?? [],
);

/** Returns all sweeps. Throws `preset_unknown` for a model without presets. */
export function ragenSweeps(model: string): PaperSweep[] {
  if (!paperModels.includes(model))
    throw new Failure('preset_unknown', `Unknown model "${model}".`, `Models: ${paperModels.join(', ')}.`);
  const iterations = model === 'starter' ? 100 : 200;
  const common = { iterations };
  const tables: Settings = {
    ...common,
    ...{ environments: JSON.stringify(generalization(model)), 'evaluation.every': 0, 'evaluation.levels': 1024 },
  };
  /** The paper's 128 episodes per iteration, of which a quarter is trained on in one update. */
  const small: Settings = {
    ...{ 'rollout.groups': 8, 'rollout.group_size': 16, 'rollout.slots': 128 },
    ...{ 'filter.keep': 0.25, 'policy_loss.mini_batch': 32 },
  };
  const labels = generalization(model).map(({ label }) => label);
  return [
    ...mainTasks(model).map(
      ({ name, title }): PaperSweep => ({
        ...{ id: `vanilla-${name}`, title: `${title}, StarPO`, preset: `${name}-ppo`, set: common, seeds: 3 },
        points: [
          { name: 'PPO', set: {} },
          { name: 'GRPO', set: grpo },
        ],
      }),
    ),
    ...[...new Set([...mainTasks(model), ...reasoningTasks(model)])].map(
      ({ name, title }): PaperSweep => ({
        ...{ id: `stable-${name}`, title: `${title}, StarPO-S`, preset: `${name}-starpo-s`, set: common, seeds: 3 },
        points: [{ name: 'StarPO-S', set: {} }],
      }),
    ),
    ...gridTasks.flatMap(({ name, title }) =>
      (['PPO', 'GRPO'] as const).map((algorithm): PaperSweep => {
        const preset = `${name}-${algorithm === 'PPO' ? 'starpo-s' : 'grpo-s'}`;
        const id = `filter-${algorithm.toLowerCase()}-${name}`;
        return {
          ...{ id, title: `${title}, ${algorithm} with filter`, preset, set: common, seeds: 3 },
          points: [
            { name: '100 %', set: { 'filter.strategy': 'none', 'filter.keep': 1 } },
            ...[0.75, 0.5, 0.25].map((keep) => ({ name: `${keep * 100} %`, set: { 'filter.keep': keep } })),
          ],
        };
      }),
    ),
    ...gridTasks.map(
      ({ name, title }): PaperSweep => ({
        ...{ id: `clip-${name}`, title: `${title}, KL and clip`, preset: `${name}-ppo`, set: common, seeds: 1 },
        points: [
          { name: 'KL, clip 0.2', set: {} },
          { name: 'KL, clip 0.28', set: { 'policy_loss.clip_high': 0.28 } },
          { name: 'no KL, clip 0.2', set: { 'kl.coefficient': 0 } },
        ],
      }),
    ),
    {
      ...{ id: 'reuse', title: 'Sokoban, rollout reuse', preset: 'sokoban-starpo-s', set: small, seeds: 1 },
      points: reuses.map((k) => ({
        name: `online-${k}`,
        set: { 'policy_loss.epochs': k, iterations: iterations / k },
      })),
    },
    {
      ...{ id: 'fresh', title: 'Sokoban, larger rollouts', preset: 'sokoban-starpo-s', set: small, seeds: 1 },
      points: reuses.map((k) => ({
        name: `online-${k}`,
        set: { 'rollout.groups': 8 * k, iterations: iterations / k },
      })),
    },
    {
      ...{ id: 'prompts', title: 'Prompts per iteration', preset: 'sokoban-starpo-s', seeds: 1 },
      set: { ...tables, ...small },
      points: promptCounts.map((groups) => ({
        name: `${groups} × ${128 / groups}`,
        // A group of one episode has no reward std, so the filter keeps all groups.
        set: {
          ...{ 'rollout.groups': groups, 'rollout.group_size': 128 / groups },
          ...(groups === 128 && { 'filter.strategy': 'none', 'filter.keep': 1, 'policy_loss.mini_batch': 128 }),
        },
      })),
    },
    {
      ...{ id: 'actions', title: 'Actions per turn', preset: 'sokoban-starpo-s', set: tables, seeds: 1 },
      points: actionCounts.map((count) => ({
        name: String(count),
        set: Object.fromEntries(
          labels.flatMap((label) => [
            [`environments.${label}.max_actions_per_turn`, count],
            [`environments.${label}.max_actions`, 5 * count],
          ]),
        ),
      })),
    },
    ...reasoningTasks(model).map(
      ({ name, title }): PaperSweep => ({
        ...{ id: `think-${name}`, title: `${title}, reasoning`, preset: `${name}-starpo-s`, seeds: 1 },
        set: name === 'sokoban' ? tables : { ...common, 'evaluation.every': 0, 'evaluation.levels': 1024 },
        points: [
          { name: 'StarPO-S', set: {} },
          { name: 'NoThink', set: { 'rollout.think': false } },
        ],
      }),
    ),
  ];
}

/** Returns changes that let most runs of a sweep train on 1/200 of the episodes. They keep the ratios of group counts and sizes. */
export function quickSettings(model: string, { preset, set }: PaperSweep, own: Settings): Settings {
  const { config } = findPreset(`${model}-${preset}`);
  const of = (path: string, value: number) => Number(own[path] ?? set[path] ?? value);
  const { rollout, policy_loss } = config;
  const size = of('rollout.group_size', rollout.group_size);
  const quarter = (value: number) => Math.max(1, Math.round(value / 4));
  return {
    iterations: Math.max(1, Math.round(of('iterations', 100) / 50)),
    'rollout.groups': quarter(of('rollout.groups', rollout.groups)),
    'policy_loss.mini_batch': Math.max(size, quarter(of('policy_loss.mini_batch', policy_loss.mini_batch))),
    ...{ 'evaluation.levels': 32, 'evaluation.every': 0, 'checkpoint.every': 0, 'diagnostics.every': 0 },
  };
}
