import { Failure } from '../contract/failure.ts';
import { findEnvironment } from '../environments/registry.ts';
import { shopLimits } from '../environments/webshop.ts';
import { nearest } from '../run-config/nearest.ts';
import type { EnvironmentConfig } from '../run-config/schema.ts';
import type { Draft } from './draft.ts';
import { isTree } from './parse-config.ts';
import { promptOf } from './prompts.ts';

/** RAGEN's environments: the tags of `custom_envs`, and how many groups play each of them. */

/** Our type and RAGEN's class defaults for each of its `env_type`s. */
const types: Record<string, { type: string; defaults: Record<string, unknown> }> = {
  sokoban: {
    type: 'sokoban',
    defaults: { dim_x: 6, dim_y: 6, num_boxes: 3, max_steps: 100, search_depth: 300 },
  },
  frozen_lake: {
    type: 'frozen-lake',
    defaults: { size: 4, p: 0.8, is_slippery: true, success_rate: 1 / 3 },
  },
  bandit: {
    type: 'bandit',
    defaults: {
      ...{ lo_arm_name: 'phoenix', hi_arm_name: 'dragon', lo_arm_score: 0.1 },
      ...{ hi_arm_loscore: 0, hi_arm_hiscore: 1, hi_arm_hiscore_prob: 0.25 },
    },
  },
  webshop: {
    type: 'webshop',
    defaults: { observation_mode: 'text', human_goals: false, show_attrs: false },
  },
};

interface Tags {
  tags: string[];
  groups: number[];
}

/** Sets the environments, groups and levels from `es_manager` and `custom_envs`. */
export function importEnvironments(draft: Draft): void {
  const train = tagsOf(draft, 'train');
  const val = tagsOf(draft, 'val');
  const { config } = draft;
  draft.integer('rollout.groups', 'es_manager.train.env_groups');
  draft.integer('rollout.group_size', 'es_manager.train.group_size');
  const all = sum(train.groups);
  const evaluated = val.tags.filter((tag) => {
    if (train.tags.includes(tag)) return false;
    if (isKnown(draft, tag)) return true;
    draft.note('no_counterpart', `${tag} is not evaluated: StarPO Studio has no ${typeOf(draft, tag)} environment.`);
    return false;
  });
  const environments: EnvironmentConfig[] = [...train.tags, ...evaluated].map((tag, index) => ({
    ...environmentOf(draft, tag, `environments.${index}`),
    share: (train.groups[index] ?? 0) / all,
    validate: val.tags.includes(tag),
  }));
  for (const environment of environments) environment.label = uniqueLabel(environment.label, environments, environment);
  config.environments = environments;
  draft.note(
    'mapped',
    `Each tag becomes an environment: ${environments.map(({ label, share }) => `${label} (share ${round(share)})`).join(', ')}.`,
  );
  importLevels(draft, val);
}

function importLevels(draft: Draft, val: Tags): void {
  const own = 'es_manager.val.env_configs.n_groups';
  const source = draft.from.has(own) ? own : 'es_manager.val.env_groups';
  const levels = Math.max(...val.groups);
  const equal = val.groups.every((each) => each === levels);
  draft.set(
    'evaluation.levels',
    levels,
    source,
    equal ? '' : 'All environments are evaluated on the same number of levels.',
  );
  if (val.tags.length > 1)
    draft.changed('Each evaluated environment starts at seed.val. RAGEN continues the seeds from one tag to the next.');
  const perLevel = draft.from.integer('es_manager.val.group_size', 1) ?? 1;
  if (perLevel > 1) draft.missing('es_manager.val.group_size');
  for (const split of ['train', 'val'])
    if (draft.from.value(`seed.${split}`) === undefined)
      draft.changed(`seed.${split} is not set. RAGEN then draws it; here it has the default.`);
  draft.integer('levels.train_seed', 'seed.train');
  draft.integer('levels.validation_seed', 'seed.val');
}

/** Returns the tags of a split with their numbers of groups. Throws `config_invalid` as RAGEN's assertions do. */
function tagsOf({ from }: Draft, split: 'train' | 'val'): Tags {
  const path = `es_manager.${split}`;
  const tags = from.list(`${path}.env_configs.tags`)?.map(String);
  if (tags === undefined || tags.length === 0)
    throw invalid(
      `${path}.env_configs.tags is missing.`,
      `Add the file with ${path}, usually base.yaml, or write +${path}.env_configs.tags=[SimpleSokoban].`,
    );
  const total = from.integer(`${path}.env_groups`, 1);
  const given = from.list(`${path}.env_configs.n_groups`)?.map(Number);
  // Without n_groups, RAGEN divides the groups equally.
  const groups = given ?? tags.map(() => (total ?? 0) / tags.length);
  if (groups.length !== tags.length || !groups.every((each) => Number.isInteger(each) && each > 0))
    throw invalid(
      `${path}.env_configs.n_groups must have one whole number above 0 for each of the ${tags.length} tags.`,
      `Override it, for example ${path}.env_configs.n_groups=[${tags.map(() => 8).join(',')}].`,
    );
  if (total !== undefined && sum(groups) !== total)
    throw invalid(
      `${path}.env_groups is ${total}, but env_configs.n_groups has ${sum(groups)} groups.`,
      `Override one of them, for example ${path}.env_groups=${sum(groups)}.`,
    );
  const twice = tags.find((tag, index) => tags.indexOf(tag) !== index);
  if (twice !== undefined)
    throw invalid(`${path}.env_configs.tags has ${twice} twice.`, 'Name it once, with all its groups.');
  return { tags, groups };
}

function typeOf({ from }: Draft, tag: string): string {
  const path = `custom_envs.${tag}`;
  const type = from.text(`${path}.env_type`);
  if (type !== undefined) return type;
  const tags = from.keys('custom_envs');
  const proposal = nearest(tag, tags);
  if (!tags.includes(tag))
    throw invalid(
      `The files do not define ${tag} in custom_envs.`,
      proposal ? `Did you mean ${proposal}?` : 'Add the file with custom_envs, usually envs.yaml.',
    );
  throw invalid(`${path}.env_type is missing.`, `Set it, for example with +${path}.env_type=sokoban.`);
}

const isKnown = (draft: Draft, tag: string) => {
  const own = types[typeOf(draft, tag)];
  return own !== undefined && findEnvironment(own.type) !== undefined;
};

/** Returns the environment for a tag. `at` is its path in our configuration. */
function environmentOf(draft: Draft, tag: string, at: string): EnvironmentConfig {
  const { from } = draft;
  const path = `custom_envs.${tag}`;
  const ragenType = typeOf(draft, tag);
  if (!isKnown(draft, tag))
    throw new Failure(
      'config_unsupported',
      `${tag} uses the environment ${ragenType}, which StarPO Studio does not have.`,
      'Override es_manager.train.env_configs.tags with tags of sokoban, frozen_lake, bandit or webshop.',
    );
  const { type, defaults } = types[ragenType]!;
  const { preset } = findEnvironment(type)!;
  const config: Record<string, unknown> = { ...structuredClone(preset.config), ...defaults };
  for (const key of from.keys(`${path}.env_config`)) {
    const source = `${path}.env_config.${key}`;
    for (const own of importKey(draft, source, key, config)) draft.sources.set(`${at}.config.${own}`, source);
  }
  if (type === 'webshop') {
    config.wrapper = isSecondRagen(draft) ? 'ragen_v2' : 'ragen_v1';
    importCatalogue(draft, `${path}.env_config.dataset`, config);
    draft.changed(
      `${tag}: the advice in observations has the same number of lines as in RAGEN, but different wording.`,
    );
  }
  if (type === 'frozen-lake' && config.is_slippery === true)
    draft.changed(
      `${tag}: slips are drawn per iteration and group (noise = ${preset.noise}). In RAGEN they are fixed by the level; for that, set noise = reference.`,
    );
  if (type === 'bandit')
    draft.changed(
      `${tag}: payouts are drawn per episode (noise = ${preset.noise}). In RAGEN all episodes of a group get the same payout, with which GRPO can't learn the task.`,
    );
  const { max_actions, ...limits } = {
    max_turns: from.integer('agent_proxy.max_turn') ?? preset.max_turns,
    max_actions_per_turn: from.integer('agent_proxy.max_actions_per_turn') ?? preset.max_actions_per_turn,
    max_actions: from.integer(`${path}.max_actions_per_traj`) ?? preset.max_actions,
  };
  draft.sources.set(`${at}.max_turns`, 'agent_proxy.max_turn');
  draft.sources.set(`${at}.max_actions_per_turn`, 'agent_proxy.max_actions_per_turn');
  draft.sources.set(`${at}.max_actions`, `${path}.max_actions_per_traj`);
  draft.sources.set(`${at}.prompt.first`, `${path}.env_instruction`);
  const prompt = promptOf(draft, { tag, type, config, maxActions: max_actions });
  return { ...preset, label: labelOf(tag), type, config, ...limits, max_actions, prompt };
}

/** Returns whether a configuration is RAGEN-2's, whose WebShop rewards only perfect purchases. */
const isSecondRagen = ({ from }: Draft) =>
  ['rollout_filter_value', 'rollout_filter_strategy'].some((key) => from.has(`actor_rollout_ref.rollout.${key}`)) ||
  from.has('agent_proxy.context_window_mode');

/** Notes WebShop's catalogue, which `source` chooses, and sets the limits that its long pages need. */
export function importCatalogue(draft: Draft, source: string, config: Record<string, unknown>): void {
  // 1,000 synthetic products have too few human goals for the splits.
  if (config.human_goals === true) config.catalogue = 'synthetic:5000:1';
  draft.missing(
    source,
    `WebShop's products are not included, so config.catalogue is ${config.catalogue}; set it to a folder with WebShop's files to use them`,
  );
  const { rollout } = draft.config;
  rollout.context = Math.max(rollout.context, shopLimits.context);
  rollout.slots = Math.min(rollout.slots, shopLimits.slots);
}

/** Imports a setting of an environment, or notes that it has no counterpart. Returns the keys of our `config` that correspond to it. */
function importKey(draft: Draft, source: string, key: string, config: Record<string, unknown>): string[] {
  const { from } = draft;
  const value = from.value(source);
  if (value === undefined) return [];
  if (key === 'dim_room') {
    [config.dim_x, config.dim_y] = from.pair(source)!;
    return ['dim_x', 'dim_y'];
  }
  // The first only changes the legend of the prompt, the second is noted by importCatalogue.
  if (key === 'grid_vocab' || (key === 'dataset' && Object.hasOwn(config, 'catalogue'))) return [];
  if (key === 'grid_lookup' && isTree(value)) {
    config.grid_lookup = { ...(config.grid_lookup as object), ...value };
    return Object.keys(value).map((symbol) => `grid_lookup.${symbol}`);
  }
  if (Object.hasOwn(config, key)) config[key] = value;
  else draft.missing(source, 'the environment has no such setting');
  return [key];
}

/** Returns a valid label: `SimpleSokoban` becomes `simple-sokoban`. */
export function labelOf(tag: string): string {
  const label = tag
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 28);
  return label === 'train' || !/[a-z0-9]/.test(label) ? `env-${label}` : label;
}

function uniqueLabel(label: string, all: readonly EnvironmentConfig[], own: EnvironmentConfig): string {
  const before = all.slice(0, all.indexOf(own)).map((each) => each.label);
  for (let number = 1; ; number++) {
    const name = number === 1 ? label : `${label}-${number}`;
    if (!before.includes(name)) return name;
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const round = (share: number) => Math.round(share * 1000) / 1000;
const invalid = (message: string, hint: string) => new Failure('config_invalid', message, hint);
