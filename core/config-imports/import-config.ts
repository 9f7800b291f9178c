import type { ImportedConfig } from '../contract/configuration.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { findPreset, type Preset, presets } from '../presets/presets.ts';
import { type PublishedModel, publishedModels } from '../presets/published.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { compose } from './compose.ts';
import type { Trainer } from './counterparts.ts';
import { Draft } from './draft.ts';
import type { ConfigText } from './parse-config.ts';
import { importRagen } from './ragen.ts';
import { Reader } from './reader.ts';
import { importTrl } from './trl.ts';
import { noteUnread } from './unread.ts';
import { importVerlAgent } from './verl-agent.ts';

type Kind = Exclude<Trainer, 'verl'>;

interface Importer {
  run: (draft: Draft) => void;
  model: readonly string[];
  /** Trainers whose settings the files have. */
  trainers: readonly Trainer[];
}

const importers: Record<Kind, Importer> = {
  ragen: { run: importRagen, model: ['actor_rollout_ref.model.path', 'model_path'], trainers: ['ragen', 'verl'] },
  'verl-agent': { run: importVerlAgent, model: ['actor_rollout_ref.model.path'], trainers: ['verl-agent', 'verl'] },
  trl: { run: importTrl, model: ['model_name_or_path'], trainers: ['trl'] },
};

/**
 * Builds a run configuration from the configuration files of RAGEN, verl-agent or TRL and overrides such as `trainer.total_training_steps=100`.
 * For TRL, the override `preset=NAME` chooses the environments. Throws `config_unreadable`, `config_invalid`, `config_unsupported` or `preset_unknown`.
 */
export function importConfig(files: readonly ConfigText[], overrides: readonly string[]): ImportedConfig {
  const { config, notes } = importWithSources(files, overrides);
  return { config, notes };
}

/** Builds the configuration as {@link importConfig} does. Also returns the setting of the files for each of ours, which {@link namingSource} names in errors. */
export function importWithSources(
  files: readonly ConfigText[],
  overrides: readonly string[],
): ImportedConfig & { sources: ReadonlyMap<string, string> } {
  const preset = overrides.findLast((each) => each.startsWith('preset='))?.slice('preset='.length);
  const { tree, assumesVerl } = compose(
    files,
    overrides.filter((each) => !each.startsWith('preset=')),
  );
  const from = new Reader(tree);
  const kind = kindOf(from);
  if (preset !== undefined && kind !== 'trl')
    throw new Failure(
      'config_invalid',
      'The files name their own environments, so preset has no effect.',
      'Remove the argument preset=NAME.',
    );
  const { run, model: paths, trainers } = importers[kind];
  const source = paths.find((path) => from.has(path));
  const name = source === undefined ? undefined : from.text(source);
  for (const path of paths) from.skip(path);
  const base = basePreset(preset, publishedOf(name));
  const draft = new Draft(base.config, from, trainers);
  run(draft);
  setModel(draft, { source, name, base });
  if (assumesVerl)
    draft.note(
      'default',
      "verl's ppo_trainer.yaml was not given. Its defaults at commit 1e47e412, which RAGEN pins, are used.",
    );
  draft.note('default', `Settings that the files do not have, such as device and precision, are those of ${base.id}.`);
  noteUnread(draft);
  return { config: { ...checked(draft) }, notes: draft.notes, sources: draft.sources };
}

function kindOf(from: Reader): Kind {
  if (['es_manager', 'custom_envs', 'agent_proxy'].some((key) => from.has(key))) return 'ragen';
  if (from.has('env.env_name')) return 'verl-agent';
  const own = [
    'num_generations',
    'max_completion_length',
    'scale_rewards',
    'num_iterations',
    'loss_type',
    'epsilon_high',
  ];
  if (own.some((key) => from.has(key))) return 'trl';
  throw new Failure(
    'config_unsupported',
    'The files are not a configuration of RAGEN (es_manager, custom_envs), verl-agent (env.env_name) or TRL (num_generations).',
    'Import the configuration file of the training run together with the files in its defaults list.',
  );
}

const publishedOf = (name = '') => publishedModels.find((each) => isModel(name, each));

/** Returns whether a repository id or a folder names a published model. */
const isModel = (name: string, model: PublishedModel) =>
  name.toLowerCase() === model.repository.toLowerCase() ||
  name
    .replace(/[\\/]+$/, '')
    .split(/[\\/]/)
    .at(-1) === model.name;

const basePreset = (name: string | undefined, model: PublishedModel | undefined): Preset =>
  findPreset(name ?? `${shortName(model ?? publishedModels[0]!)}-frozen-lake-grpo`);

const shortName = ({ name }: PublishedModel) => name.replace('-Instruct', '').toLowerCase();

/** Sets the model, and the preset of that model, environment and algorithm, which finds the model's folder. */
function setModel(draft: Draft, { source, name, base }: { source?: string; name?: string; base: Preset }): void {
  const { config } = draft;
  const published = publishedOf(name);
  if (source !== undefined && name !== undefined) {
    const why = 'Download the model and set start.model to its folder.';
    draft.set('start.model', published?.name ?? name, source, published ? '' : why);
    if (!published) {
      config.preset = 'custom';
      config.optimizer.recompute = 'block';
      return;
    }
  }
  const preset = presetOf(base, config);
  config.preset = preset?.id ?? 'custom';
  // Without a penalty, its form has no effect.
  if (config.kl.coefficient === 0) config.kl = { ...(preset ?? base).config.kl, coefficient: 0 };
}

/** Returns the preset with the model, environment and algorithm of a configuration; undefined if there is none. Prefers the environments of `base`. */
function presetOf(base: Preset, config: RunConfig): Preset | undefined {
  const fits = presets.filter(
    (each) =>
      !each.hidden && each.config.start.model === config.start.model && kindOfRun(each) === kindOfRun({ config }),
  );
  const games = ({ environments }: RunConfig) => JSON.stringify(environments.map(({ type, config }) => [type, config]));
  return (
    fits.find((each) => games(each.config) === games(config)) ??
    fits.find((each) => games(each.config) === games(base.config)) ??
    fits[0]
  );
}

/** Returns what tells presets of a model apart: the trained environment and the algorithm. */
function kindOfRun({ config }: Pick<Preset, 'config'>): string {
  const { environments, advantage, critic, filter, policy_loss } = config;
  const { objective, ratio_level, clip_turn_factor } = policy_loss;
  const type = environments.find(({ share }) => share > 0)!.type;
  return [type, advantage.estimator, critic.model, filter.strategy, objective, ratio_level, clip_turn_factor].join();
}

/** Returns the configuration, validated. An error names the setting of the files. */
function checked(draft: Draft) {
  try {
    return validateConfig(draft.config);
  } catch (error) {
    throw namingSource(error, draft.sources);
  }
}

/** Returns an error about a configuration, with the setting of the files that the wrong value is from, if that is known. */
export function namingSource(error: unknown, sources: ReadonlyMap<string, string>): Failure {
  const failure = asFailure(error);
  const [path = ''] = /^[^\s:]+/.exec(failure.message) ?? [];
  // The trainer writes indexes in brackets.
  const source = sources.get(path.replace(/\[(\d+)\]/g, '.$1'));
  if (failure.code !== 'config_invalid' || source === undefined) return failure;
  return new Failure(
    failure.code,
    `${source}: ${failure.message}`,
    `Correct the file, or override the setting with +${source}=VALUE.`,
  );
}
