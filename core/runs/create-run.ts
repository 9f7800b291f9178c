import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { asFailure, Failure } from '../contract/failure.ts';
import { findPublishedModel } from '../models/find.ts';
import { publishedModel } from '../models/published.ts';
import { findPreset, type Preset } from '../run-config/presets.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings, type Setting } from '../run-config/settings.ts';
import type { Tree } from '../run-config/tree.ts';
import { validateConfig } from '../run-config/validate.ts';
import { newRunId, runFiles, runFolder, runsFolder } from '../run-directory/names.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { modelDigest, weightsIndex, wholeWeights } from './model-digest.ts';

export interface CreateRunParts {
  home: string;
  resources: string;
  trainer: Pick<Trainer, 'inspect'>;
}

export interface NewRun {
  preset: string;
  set?: Record<string, Setting> | undefined;
}

/**
 * Makes a run directory and gives its id; starts nothing. Throws `preset_unknown`, `config_invalid`, `model_missing`, what `modelDigest` throws
 * or what the trainer finds wrong with the model folder, and then has changed nothing.
 */
export async function createRun(
  { home, resources, trainer }: CreateRunParts,
  { preset: name, set = {} }: NewRun,
): Promise<string> {
  const preset = findPreset(name);
  const changed = applySettings(preset.config, set);
  const config = validateConfig(changed, preset.config as unknown as Tree);
  const own = set['start.model'] === undefined && config.start.model === preset.config.start.model;
  config.start.model = own ? ownModel(preset, home, resources) : resolve(config.start.model);
  if (config.kl.reference !== '') config.kl.reference = resolve(config.kl.reference);
  checkModels(config);
  if (!own || preset.model !== null) await inspect(trainer, config);
  if (config.start.weights === 'load' && config.start.sha256 === '') {
    config.start.sha256 = await modelDigest(config.start.model);
  }
  return writeRun(home, preset.id, config);
}

/** The folder of the model that a preset names. Throws `model_missing` where it is a published one that isn't here. */
function ownModel({ model, config }: Preset, home: string, resources: string): string {
  if (model === null) return join(resources, config.start.model);
  return findPublishedModel(home, publishedModel(model.name));
}

/** What the trainer would find at the start is better said before there is a run. Without a usable trainer that has to wait. */
async function inspect(trainer: Pick<Trainer, 'inspect'>, { start }: RunConfig): Promise<void> {
  if (start.weights !== 'load') return;
  await trainer.inspect(start.model).catch((error) => {
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
    "Set kl.reference to a folder in Hugging Face layout, or to nothing for the run's initial weights.",
  );
}

function requireFiles(folder: string, files: readonly string[], hint: string): void {
  const missing = files.find((file) => !existsSync(join(folder, file)));
  if (missing !== undefined) {
    throw new Failure('model_missing', `The model folder ${folder} has no ${missing}.`, hint);
  }
}

/** The directory appears under its name by one rename, whole. */
function writeRun(home: string, preset: string, config: RunConfig): string {
  const runId = newRunId(preset);
  const partial = join(runsFolder(home), `.${runId}-${randomBytes(4).toString('hex')}`);
  mkdirSync(partial, { recursive: true });
  try {
    writeFileSync(join(partial, runFiles.config), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
    renameSync(partial, runFolder(home, runId));
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
  return runId;
}
