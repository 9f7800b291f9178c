import { asFailure, Failure } from '../contract/failure.ts';
import { presets } from '../presets/presets.ts';
import { withOwnDigest } from '../run-config/environment-files.ts';
import type { EnvironmentConfig, RunConfig } from '../run-config/schema.ts';
import { applySettings, type Setting } from '../run-config/settings.ts';
import { validateConfig } from '../run-config/validate.ts';

/** Options of a requested evaluation. Defaults are those of the run's own evaluation. */
export interface EvaluationOptions {
  on?: string | undefined;
  set?: Record<string, Setting> | undefined;
  levels?: number | undefined;
  temperature?: number | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  minP?: number | undefined;
  seed?: number | undefined;
}

/** Settings of an evaluation, named as in run.json, except `seed`, which is `levels.validation_seed` there. */
interface EvaluationSettings {
  levels: number;
  temperature: number;
  top_p: number;
  top_k: number;
  min_p: number;
  seed: number;
}

export interface EvaluationTarget extends EvaluationSettings {
  environment: EnvironmentConfig;
}

/** Returns preset environments of types that a run did not train on. */
export function otherEnvironments(config: RunConfig): EnvironmentConfig[] {
  const types = new Set<string>(config.environments.map(({ type }) => type));
  // Starter policies get the bare state, in the words that they know; published models need the rules.
  const modelOf = (id: string) => presets.find((preset) => preset.id === id)?.config.start.model;
  const own = presets.filter((preset) => preset.config.start.model === (modelOf(config.preset) ?? 'starter'));
  return own.flatMap((preset) => preset.config.environments).filter(({ type }) => !types.has(type) && types.add(type));
}

/** Resolves options into a request for the trainer. Throws `environment_unknown` or `config_invalid`. */
export function evaluationTarget(config: RunConfig, options: EvaluationOptions): EvaluationTarget {
  const environment = chooseEnvironment(config, options.on);
  const changed = { ...withSettings(environment, options.set ?? {}), share: 1 };
  const settings = { ...ownSettings(config), ...overridesIn(options) };
  const { levels, temperature, top_p, top_k, min_p, seed } = settings;
  const whole = validateConfig({
    ...config,
    environments: [changed],
    rollout: { ...config.rollout, top_p, top_k, min_p },
    evaluation: { ...config.evaluation, levels, temperature },
    levels: { ...config.levels, validation_seed: seed },
  });
  return { environment: whole.environments[0]!, ...settings };
}

/** Returns the settings of the run's own evaluation. */
export const ownSettings = ({ evaluation, rollout, levels }: RunConfig): EvaluationSettings => ({
  levels: evaluation.levels,
  temperature: evaluation.temperature,
  top_p: rollout.top_p,
  top_k: rollout.top_k,
  min_p: rollout.min_p,
  seed: levels.validation_seed,
});

/** Returns sampling settings as named in the API. */
export const samplingOf = ({ temperature, top_p, top_k, min_p }: Omit<EvaluationSettings, 'levels' | 'seed'>) => ({
  ...{ temperature, topP: top_p, topK: top_k, minP: min_p },
});

function overridesIn({ levels, temperature, topP, topK, minP, seed }: EvaluationOptions): Partial<EvaluationSettings> {
  return {
    ...(levels === undefined ? {} : { levels }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
    ...(minP === undefined ? {} : { min_p: minP }),
    ...(seed === undefined ? {} : { seed }),
  };
}

/** Finds an environment by label or type in the run, else by type or name in the presets. */
function chooseEnvironment(config: RunConfig, on: string | undefined): EnvironmentConfig {
  const own = config.environments;
  if (on === undefined) return own.find(({ validate }) => validate) ?? own[0]!;
  const others = otherEnvironments(config);
  const found =
    own.find(({ label }) => label === on) ??
    own.find(({ type }) => type === on) ??
    others.find(({ type }) => type === on) ??
    presets.find(({ id, alias }) => id === on || alias === on)?.config.environments[0];
  if (found) return found;
  const names = [...own.map(({ label }) => label), ...others.map(({ type }) => type)];
  throw new Failure(
    'environment_unknown',
    `Unknown environment "${on}".`,
    `Environments: ${[...new Set(names)].join(', ')}. You can also name a preset.`,
  );
}

/** Applies settings. Suggestions in errors use the short form of a key. */
function withSettings(environment: EnvironmentConfig, set: Record<string, Setting>): EnvironmentConfig {
  try {
    return withOwnDigest(applySettings(environment, fullPaths(environment, set)), environment);
  } catch (error) {
    const { code, message, hint } = asFailure(error);
    throw new Failure(code, message, hint.replace('Did you mean config.', 'Did you mean '));
  }
}

/** Expands short keys: `size` means `config.size` if the environment itself has no such key. */
function fullPaths(environment: EnvironmentConfig, set: Record<string, Setting>): Record<string, Setting> {
  const path = (key: string) =>
    !Object.hasOwn(environment, key.split('.')[0]!) && Object.hasOwn(environment.config, key.split('.')[0]!)
      ? `config.${key}`
      : key;
  return Object.fromEntries(Object.entries(set).map(([key, value]) => [path(key), value]));
}

/** The levels and settings that an evaluation plays. */
export interface Evaluated extends EvaluationSettings {
  environment: Pick<EnvironmentConfig, 'label' | 'type' | 'config'>;
}

/** Describes differences from the run's (or preset's) evaluation, such as `size=6`. */
export function evaluationChanges(
  config: RunConfig,
  { environment, ...settings }: Pick<Evaluated, 'environment'> & Partial<EvaluationSettings>,
): string[] {
  const base =
    config.environments.find(({ label }) => label === environment.label) ??
    otherEnvironments(config).find(({ type }) => type === environment.type);
  // The digest is computed from the files. The other two have no effect in an evaluation.
  const {
    config: baseConfig = {},
    files_sha256: _digest,
    share: _share,
    validate: _validate,
    ...baseRules
  } = base ?? {};
  const { config: ownConfig, ...ownRules } = environment;
  return [
    ...differences({ ...baseRules }, Object.fromEntries(Object.entries(ownRules).filter(([key]) => key in baseRules))),
    ...differences({ ...baseConfig }, { ...ownConfig }),
    ...differences({ ...ownSettings(config) }, settings),
  ];
}

function differences(base: Record<string, unknown>, own: Record<string, unknown>): string[] {
  return Object.entries(own)
    .filter(([key, value]) => key in base && !sameValue(value, base[key]))
    .map(([key, value]) => (typeof value === 'object' ? `${key} changed` : `${key}=${value}`));
}

/** Compares values independently of their key order. */
function sameValue(a: unknown, b: unknown): boolean {
  const sorted = (value: unknown) =>
    JSON.stringify(value, (_, part) =>
      part && typeof part === 'object' ? Object.fromEntries(Object.entries(part).sort()) : part,
    );
  return sorted(a) === sorted(b);
}
