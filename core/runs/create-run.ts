import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RunSource } from '../contract/contract.ts';
import { asFailure, Failure, runUnknown } from '../contract/failure.ts';
import { findPublishedModel } from '../presets/find.ts';
import { findPreset, type Preset, presets } from '../presets/presets.ts';
import { publishedModel } from '../presets/published.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings, type Setting } from '../run-config/settings.ts';
import { validateConfig } from '../run-config/validate.ts';
import { appendAnnotation } from '../run-directory/annotations.ts';
import { refuseImported } from '../run-directory/imported.ts';
import { modelDigest, weightsIndex } from '../run-directory/model-digest.ts';
import { newRunId, runFiles, runFolder, runsFolder, wholeWeights } from '../run-directory/names.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { forkConfig } from './fork.ts';
import type { Inheritance } from './inheritance.ts';

export interface CreateRunParts {
  home: string;
  resources: string;
  trainer: Pick<Trainer, 'inspect' | 'validate'>;
}

export type NewRun = RunSource & { set?: Record<string, Setting> | undefined };

/** A configuration to begin with, and the preset whose model it begins from, if it is one's. */
export interface Origin {
  config: RunConfig;
  preset: Preset | null;
}

/** What is to be known of a run besides its configuration, once that is. */
export type Inherit = (config: RunConfig) => Promise<Inheritance | null>;

/**
 * Makes a run directory and gives its id, which may be named; starts nothing. Throws `preset_unknown`, `run_unknown`, `checkpoint_missing`, `config_unreadable`, `config_invalid`, `model_missing`, what
 * `modelDigest` throws or what the trainer finds wrong with the configuration or the model folder, and then has changed nothing.
 */
export async function createRun(
  parts: CreateRunParts,
  newRun: NewRun,
  runId?: string,
  inherit: Inherit = async () => null,
): Promise<string> {
  const config = await prepareConfig(parts, newRun);
  return writeRun(parts.home, config, runId ?? newRunId(config.preset), await inherit(config));
}

/** The configuration that a run is made with: checked, its folders absolute, its model's weights known by their digest. Throws as {@link createRun} does. */
export async function prepareConfig(
  { home, resources, trainer }: CreateRunParts,
  { set = {}, ...source }: NewRun,
): Promise<RunConfig> {
  const { config: given, preset } = originOf(home, source);
  const config = validateConfig(applySettings(given, set));
  await unlessNoTrainer(trainer.validate(config));
  const sameModel = set['start.model'] === undefined && config.start.model === given.start.model;
  if (!sameModel) leaveOtherRun(config, given);
  const own = preset !== null && sameModel;
  config.start.model = own ? ownModel(preset!, home, resources) : resolve(config.start.model);
  if (config.kl.reference !== '') config.kl.reference = resolve(config.kl.reference);
  checkModels(config);
  const known = own && preset?.model === null;
  if (!known && config.start.weights === 'load') await unlessNoTrainer(trainer.inspect(config.start.model));
  if (config.start.weights === 'load' && config.start.sha256 === '') {
    config.start.sha256 = await modelDigest(config.start.model);
  }
  return config;
}

/** What a run's configuration is taken from, before anything is changed. Throws as {@link createRun} does. */
export function originOf(home: string, source: RunSource): Origin {
  if ('preset' in source) {
    const preset = findPreset(source.preset);
    return { config: structuredClone(preset.config), preset };
  }
  if ('config' in source) {
    const config = validateConfig(source.config);
    const preset = presets.find(({ id }) => id === config.preset);
    // A preset's configuration that was exported and comes back means the preset's model, wherever that is here.
    const own = preset?.config.start.model === config.start.model;
    return { config, preset: own ? preset! : null };
  }
  const config = readConfig(home, source.run);
  if (source.checkpoint === undefined)
    return { config: { ...config, parent: { run: source.run, iteration: 0 } }, preset: null };
  return { config: forkConfig(home, config, source), preset: null };
}

/** Another run's configuration, in today's form. */
function readConfig(home: string, runId: string): RunConfig {
  const path = join(runFolder(home, runId), runFiles.config);
  if (!existsSync(path)) throw runUnknown(runId);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Failure(
      'config_unreadable',
      `${path} can't be read: ${asFailure(error).message}`,
      'Choose another run.',
    );
  }
  refuseImported(runId, (value as { task?: unknown } | null)?.task);
  return validateConfig(value);
}

/** Another model is asked for than the one that was taken over, so neither its digest nor its run is this one's. */
function leaveOtherRun({ start }: RunConfig, given: RunConfig): void {
  if (start.sha256 === given.start.sha256) start.sha256 = '';
  Object.assign(start, { run: '', checkpoint: 0, keep_optimizer: false });
}

/** The folder of the model that a preset names. Throws `model_missing` where it is a published one that isn't here. */
export function ownModel({ model, config }: Preset, home: string, resources: string): string {
  if (model === null) return join(resources, config.start.model);
  return findPublishedModel(home, publishedModel(model.name));
}

/** What the trainer would find at the start is better said before there is a run. Without a usable trainer that has to wait. */
async function unlessNoTrainer(question: Promise<unknown>): Promise<void> {
  await question.catch((error) => {
    if (!trainerCodes.includes(asFailure(error).code)) throw error;
  });
}

const trainerCodes = ['trainer_missing', 'trainer_unusable', 'usage', 'usage_invalid'];

function checkModels({ start, kl }: RunConfig): void {
  const loads = start.weights === 'load' && !existsSync(join(start.model, weightsIndex));
  requireFiles(
    start.model,
    ['config.json', 'tokenizer.json', ...(loads ? [wholeWeights] : [])],
    'Set start.model to a folder in Hugging Face layout, or restore resources/starter.',
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
    throw new Failure('model_missing', `The model folder ${folder} has no ${missing}.`, hint);
  }
}

/** The directory appears under its name by one rename, whole. */
async function writeRun(
  home: string,
  config: RunConfig,
  runId: string,
  inheritance: Inheritance | null,
): Promise<string> {
  const partial = join(runsFolder(home), `.${runId}-${randomBytes(4).toString('hex')}`);
  mkdirSync(partial, { recursive: true });
  try {
    writeFileSync(join(partial, runFiles.config), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
    const { forkBaseline = null, rollbacks = 0 } = inheritance ?? {};
    // Of a long run it has megabytes.
    if (forkBaseline !== null)
      await writeFile(join(partial, runFiles.forkBaseline), forkBaseline, { flush: true });
    if (rollbacks > 0) appendAnnotation(partial, { type: 'rollbacks', count: rollbacks });
    renameSync(partial, runFolder(home, runId));
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (existsSync(runFolder(home, runId))) throw runExists(runFolder(home, runId));
    throw error;
  }
  return runId;
}

const runExists = (folder: string) =>
  new Failure('run_exists', `${folder} already exists.`, 'Move or rename the existing folder.');
