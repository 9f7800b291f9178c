import type { ConfigCheck, ConfigProblem } from '../contract/contract.ts';
import { asFailure, type Failure } from '../contract/failure.ts';
import { shortValue } from '../contract/run-names.ts';
import { recordedCollapses } from '../echo-trap/recorded-runs.ts';
import type { TimeEstimates } from '../estimates/time.ts';
import { inTitles, titleOf } from '../presets/form.ts';
import { presetWithModelOf } from '../presets/presets.ts';
import { risingRate } from '../run-config/learning-rate.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings, type Setting } from '../run-config/settings.ts';
import { keyPaths, type Tree } from '../run-config/tree.ts';
import { refuseNewer, upgradeConfig } from '../run-config/upgrade.ts';
import { findProblems, validateConfig } from '../run-config/validate.ts';
import { type CreateRunParts, type NewRun, type Origin, originOf, withModels } from './create-run.ts';

/** How messages name settings. */
interface SettingNames {
  /** Returns the name of a setting. */
  of: (path: string) => string;
  /** Replaces the settings in a message of the trainer with their names. */
  within: (text: string) => string;
}
/** Names settings by their keys, for the command line. */
export const keyed: SettingNames = { of: (path) => path, within: (text) => text };
/** Names settings by their titles, for the form. */
export const titled: SettingNames = { of: titleOf, within: inTitles };

/**
 * Returns what prevents a run of a configuration from starting on this machine, by setting, and the settings without effect.
 * Throws if the source is invalid or the trainer is missing.
 */
export async function checkConfig(
  { home, resources, trainer, times }: CreateRunParts & { times: TimeEstimates },
  { set = {}, ...source }: NewRun,
  names: SettingNames = keyed,
): Promise<ConfigCheck> {
  const origin = 'config' in source ? withUpgradedConfig(source.config) : originOf(home, source);
  const original = origin.config;
  const { config, problems } = applyEach(original, set, names);
  problems.push(
    ...findProblems(config)
      .filter(({ path }) => !problems.some((problem) => problem.path === path))
      .map(({ path, words, hint }) => ({ ...toProblem(path, words, names), hint })),
  );
  if (problems.length > 0) return { problems, warnings: [], idle: [], time: null };
  try {
    const valid = validateConfig(config);
    const { warnings, idle } = await trainer.validate(valid);
    const startProblem = await findStartProblem({ home, resources, trainer }, valid, origin, names);
    return {
      problems: startProblem ? [startProblem] : [],
      warnings: [
        ...warnings.map(names.within),
        ...rateWarnings(original, valid, names),
        ...collapseWarnings(valid, names),
      ],
      idle: idle.map(({ path, reason }) => ({ path: dotted(path), reason: names.within(reason) })),
      time: times.estimator()(valid),
    };
  } catch (error) {
    const failure = asFailure(error);
    if (failure.code !== 'config_invalid') throw error;
    return { problems: [asProblem(failure, config, names)], warnings: [], idle: [], time: null };
  }
}

/** Returns what prevents a run of a valid configuration from starting on this machine; null if nothing does. */
async function findStartProblem(
  parts: CreateRunParts,
  config: RunConfig,
  origin: Origin,
  names: SettingNames,
): Promise<ConfigProblem | null> {
  try {
    await parts.trainer.validate(withModels(parts, config, origin), { start: true });
    return null;
  } catch (error) {
    const failure = asFailure(error);
    const problem = asProblem(failure, config, names);
    return { ...problem, path: problem.path ?? settingOf(failure, config), machine: true };
  }
}

/** Returns the setting to change for an error about the device or a model. */
function settingOf({ code, message }: Failure, { kl }: RunConfig): string {
  if (code === 'device_unavailable') return 'device';
  if (code === 'precision_unsupported') return 'precision';
  return kl.reference !== '' && message.includes(kl.reference) ? 'kl.reference' : 'start.model';
}

/** Warns if the learning rate rises compared to the original configuration. */
function rateWarnings(original: RunConfig, config: RunConfig, names: SettingNames): string[] {
  const rise = risingRate(original, config);
  if (!rise) return [];
  const { iteration, before, now } = rise;
  const rate = (value: number) => String(Number(value.toPrecision(2)));
  return [
    `The learning rate would rise from ${rate(before)} to ${rate(now)} at iteration ${iteration}, since ${names.of('optimizer.schedule')} spans ${config.iterations} iterations. Use a lower ${names.of('optimizer.learning_rate')} or a constant schedule.`,
  ];
}

/** Warns if recorded runs collapsed at this step size or a lower one. */
function collapseWarnings(config: RunConfig, names: SettingNames): string[] {
  const recorded = recordedCollapses(config);
  if (!recorded) return [];
  const { runs, collapsed, step } = recorded;
  const { optimizer, policy_loss } = config;
  const factors = `${names.of('optimizer.learning_rate')} × ${names.of('policy_loss.epochs')}`;
  const own = shortValue(optimizer.learning_rate * policy_loss.epochs);
  return [
    `${collapsed} of ${runs} recorded runs of this model and environment collapsed at a step size (${factors}) of ${shortValue(step)}. This run's is ${own}. A lower learning rate is safer.`,
  ];
}

/** Upgrades a configuration without validating it, so that each problem is reported by setting. Throws `config_version_unsupported`. */
function withUpgradedConfig(given: Record<string, unknown>): Origin {
  refuseNewer(given);
  const config = upgradeConfig(given).config as RunConfig;
  return { config, preset: presetWithModelOf(config) };
}

/** Applies all valid changes and returns the problems of the others. */
function applyEach(
  original: RunConfig,
  set: Record<string, Setting>,
  names: SettingNames,
): { config: RunConfig; problems: ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  let config = original;
  for (const [path, value] of Object.entries(set)) {
    try {
      config = applySettings(config, { [path]: value });
    } catch (error) {
      const { code, message, hint } = asFailure(error);
      const [, expected] = / must be (.*), not /.exec(message) ?? [];
      problems.push({
        code,
        path,
        message: expected ? `${names.of(path)} must be ${expected}.` : message,
        hint,
        machine: false,
      });
    }
  }
  return { config, problems };
}

function toProblem(path: string, words: string, names: SettingNames): Omit<ConfigProblem, 'hint'> {
  const name = path === '' ? 'The configuration' : names.of(path);
  return { code: 'config_invalid', path: path || null, message: `${name} ${words}.`, machine: false };
}

/** Finds the setting that a trainer's message starts with. */
function asProblem({ code, message, hint }: Failure, config: RunConfig, names: SettingNames): ConfigProblem {
  const [named = ''] = /^[\w.[\]-]+/.exec(message) ?? [];
  const path = byIndex(dotted(named.replace(/[:.]$/, '')), config);
  if (!keyPaths(config as unknown as Tree).includes(path))
    return {
      code,
      path: null,
      message: names.within(message),
      hint: names.within(hint),
      machine: false,
    };
  const rest = message.slice(named.length).replace(/^:?\s*/, '');
  const separator = /^(must|is|has|needs|can|isn|and|names?)\b/.test(rest) ? ' ' : ': ';
  return {
    code,
    path,
    message: `${names.of(path)}${separator}${names.within(rest)}`,
    hint: names.within(hint),
    machine: false,
  };
}

/** Turns `environments[0].noise` into the path of the setting, `environments.0.noise`. */
const dotted = (path: string) => path.replace(/\[(\d+)\]/g, '.$1');

/** Turns `environments.frozen-lake.prompt.first` into `environments.0.prompt.first`. */
function byIndex(path: string, { environments }: RunConfig): string {
  const [head, label, ...rest] = path.split('.');
  const index = environments.findIndex((environment) => environment.label === label);
  return head === 'environments' && index >= 0 ? ['environments', index, ...rest].join('.') : path;
}
