import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureFolder } from '../base/folders.ts';
import type { NewRunMarks, RunSource } from '../contract/contract.ts';
import { asFailure, Failure, messageOf, runUnknown } from '../contract/failure.ts';
import { named } from '../contract/file-errors.ts';
import { findPublishedModel } from '../presets/find.ts';
import { ownPresets } from '../presets/own-presets.ts';
import { findPreset, type Preset, presetWithModelOf } from '../presets/presets.ts';
import { publishedModel } from '../presets/published.ts';
import { withOwnDigest } from '../run-config/environment-files.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings, type Setting } from '../run-config/settings.ts';
import { validateConfig } from '../run-config/validate.ts';
import { appendAnnotation, type NewAnnotation } from '../run-directory/annotations.ts';
import { refuseImported } from '../run-directory/imported.ts';
import { modelDigest, weightsIndex } from '../run-directory/model-digest.ts';
import { newRunId, runFiles, runFolder, runsFolder, wholeWeights } from '../run-directory/names.ts';
import { requireJsonFile } from '../run-directory/parse-line.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { forkConfig } from './fork.ts';
import type { Inheritance } from './inheritance.ts';

export interface CreateRunParts {
  home: string;
  resources: string;
  trainer: Pick<Trainer, 'validate'>;
}

export type NewRun = RunSource & NewRunMarks & { set?: Record<string, Setting> | undefined };

export interface Origin {
  config: RunConfig;
  /** The preset whose model the configuration uses, if any. */
  preset: Preset | null;
}

/** Returns what a run inherits from its parent besides its configuration. */
type Inherit = (config: RunConfig) => Promise<Inheritance | null>;

/**
 * Creates a run directory and returns the run's id; does not start it. Throws `preset_unknown`, `run_unknown`, `checkpoint_missing`, `config_unreadable`,
 * `config_invalid`, `model_missing`, an error of `modelDigest`, or the trainer's error about the configuration or the model folder. Creates nothing if it throws.
 */
export async function createRun(
  parts: CreateRunParts,
  newRun: NewRun,
  runId?: string,
  inherit: Inherit = async () => null,
): Promise<string> {
  const config = await prepareConfig(parts, newRun);
  const inheritance = await inherit(config);
  return writeRun(parts.home, config, runId ?? newRunId(config.preset), inheritance, marksOf(newRun));
}

/** Returns the annotations for the name, tags and note of a new run. */
function marksOf({ name = '', tags = [], note = '' }: NewRunMarks): NewAnnotation[] {
  return [
    ...(name.trim() === '' ? [] : [{ type: 'name' as const, name: name.trim() }]),
    ...[...new Set(tags)].map((tag) => ({ type: 'tag' as const, tag, present: true })),
    ...(note.trim() === '' ? [] : [{ type: 'note' as const, text: note }]),
  ];
}

/** Returns the validated configuration of a new run, with folders and digests as in its source. Throws as {@link createRun} does. */
export const plainConfig = (home: string, { set = {}, ...source }: NewRun): RunConfig =>
  validateConfig(applySettings(originOf(home, source).config, set));

/** Returns the validated configuration of a new run, with absolute folders and the digests of the model's weights and the environments' files. Throws as {@link createRun} does. */
export async function prepareConfig(
  { home, resources, trainer }: CreateRunParts,
  { set = {}, ...source }: NewRun,
): Promise<RunConfig> {
  const origin = originOf(home, source);
  const changed = validateConfig(applySettings(origin.config, set));
  const environments = changed.environments.map((each, i) => withOwnDigest(each, origin.config.environments[i]));
  const settings = { ...changed, environments };
  await ignoreMissingTrainer(trainer.validate(settings));
  const config = withModels({ home, resources }, settings, origin);
  const digests = (await ignoreMissingTrainer(trainer.validate(config, { start: true })))?.filesSha256 ?? [];
  for (const [i, environment] of config.environments.entries()) environment.files_sha256 ||= digests[i] ?? '';
  if (config.start.weights === 'load' && config.start.sha256 === '') {
    config.start.sha256 = await modelDigest(config.start.model);
  }
  return config;
}

/**
 * Returns a configuration with the absolute folders of its models. `origin` is its source before changes.
 * Throws `model_missing` if a folder lacks a file.
 */
export function withModels(
  { home, resources }: Pick<CreateRunParts, 'home' | 'resources'>,
  settings: RunConfig,
  { config: original, preset }: Origin,
): RunConfig {
  const config = structuredClone(settings);
  const sameModel = config.start.model === original.start.model;
  if (!sameModel) dropOriginalModel(config, original);
  config.start.model =
    preset !== null && sameModel ? presetModelFolder(preset, home, resources) : resolve(config.start.model);
  if (config.kl.reference !== '') config.kl.reference = resolve(config.kl.reference);
  checkModels(config);
  return config;
}

/** Returns the configuration of a source, before changes. Throws as {@link createRun} does. */
export function originOf(home: string, source: RunSource): Origin {
  if ('preset' in source) {
    const preset = findPreset(source.preset, ownPresets(home));
    return { config: structuredClone(preset.config), preset };
  }
  if ('config' in source) {
    const config = validateConfig(source.config);
    return { config, preset: presetWithModelOf(config) };
  }
  const config = readConfig(home, source.run);
  if (source.checkpoint === undefined)
    return { config: { ...config, parent: { run: source.run, iteration: 0 } }, preset: null };
  return { config: forkConfig(home, config, source), preset: null };
}

/** Returns a run's configuration in the current format. */
function readConfig(home: string, runId: string): RunConfig {
  const path = join(runFolder(home, runId), runFiles.config);
  if (!existsSync(path)) throw runUnknown(runId);
  let value: unknown;
  try {
    value = requireJsonFile(path);
  } catch (error) {
    throw new Failure('config_unreadable', `${path} ${messageOf(error)}.`, 'Choose another run.');
  }
  refuseImported(runId, (value as { task?: unknown } | null)?.task);
  return validateConfig(value);
}

/** Removes the digest and the source run of the original model, because the configuration now uses another model. */
function dropOriginalModel({ start }: RunConfig, original: RunConfig): void {
  if (start.sha256 === original.start.sha256) start.sha256 = '';
  Object.assign(start, { run: '', checkpoint: 0, keep_optimizer: false });
}

/** Returns the folder of a preset's model. Throws `model_missing` if it is a published model that was not downloaded. */
export function presetModelFolder({ model, config }: Preset, home: string, resources: string): string {
  if (model === null) return join(resources, config.start.model);
  return findPublishedModel(home, publishedModel(model.name));
}

/** Reports the trainer's errors before the run exists. Without a usable trainer, they are reported when the run starts. */
export async function ignoreMissingTrainer<Answer>(check: Promise<Answer>): Promise<Answer | undefined> {
  return check.catch((error) => {
    if (!trainerCodes.includes(asFailure(error).code)) throw error;
    return undefined;
  });
}

const trainerCodes = ['trainer_missing', 'trainer_unusable', 'usage', 'usage_invalid'];

function checkModels({ start, kl }: RunConfig): void {
  const loads = start.weights === 'load' && !existsSync(join(start.model, weightsIndex));
  requireFiles(
    start.model,
    ['config.json', 'tokenizer.json', ...(loads ? [wholeWeights] : [])],
    'Set start.model to a folder in Hugging Face layout. If it is one of the app, reinstall the app.',
  );
  if (kl.reference === '') return;
  requireFiles(
    kl.reference,
    ['config.json'],
    "Set kl.reference to a folder in Hugging Face layout, or leave it empty to use the run's initial weights.",
  );
}

function requireFiles(folder: string, files: readonly string[], hint: string): void {
  const missing = files.find((file) => !existsSync(join(folder, file)));
  if (missing !== undefined) {
    const problem = existsSync(folder) ? `has no ${missing}` : 'was not found';
    throw new Failure('model_missing', `The model folder ${folder} ${problem}.`, hint);
  }
}

/** Writes the directory under a temporary name, then renames it. */
async function writeRun(
  home: string,
  config: RunConfig,
  runId: string,
  inheritance: Inheritance | null,
  marks: readonly NewAnnotation[],
): Promise<string> {
  const partial = join(runsFolder(home), `.${runId}-${randomBytes(4).toString('hex')}`);
  ensureFolder(partial);
  try {
    writeFileSync(join(partial, runFiles.config), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
    const { forkBaseline = null, rollbacks = 0 } = inheritance ?? {};
    // Asynchronously, because the baseline of a long run is several megabytes.
    if (forkBaseline !== null) await writeFile(join(partial, runFiles.forkBaseline), forkBaseline, { flush: true });
    if (rollbacks > 0) appendAnnotation(partial, { type: 'rollbacks', count: rollbacks });
    for (const mark of marks) appendAnnotation(partial, mark);
    renameSync(partial, runFolder(home, runId));
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (existsSync(runFolder(home, runId))) throw runExists(runFolder(home, runId));
    throw named(error, runFolder(home, runId));
  }
  return runId;
}

const runExists = (folder: string) =>
  new Failure('run_exists', `${folder} already exists.`, 'Move or rename the existing folder.');
