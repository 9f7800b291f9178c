import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure } from '../api/failure.ts';
import { findPreset } from '../run-config/presets.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings, type Setting } from '../run-config/settings.ts';
import type { Tree } from '../run-config/tree.ts';
import { validateConfig } from '../run-config/validate.ts';
import { newRunId, runFiles, runFolder, runsFolder } from '../run-directory/names.ts';
import { modelDigest, weightsIndex, wholeWeights } from './model-digest.ts';

export interface NewRun {
  preset: string;
  set?: Record<string, Setting> | undefined;
}

/**
 * Makes a run directory and gives its id; starts nothing. Throws `preset_unknown`, `config_invalid`, `model_missing` or
 * what `modelDigest` throws, and then has changed nothing.
 */
export async function createRun(
  home: string,
  resources: string,
  { preset: name, set = {} }: NewRun,
): Promise<string> {
  const preset = findPreset(name);
  const changed = applySettings(preset.config, set);
  const config = validateConfig(changed, preset.config as unknown as Tree);
  const own = set['start.model'] === undefined && config.start.model === preset.config.start.model;
  config.start.model = own ? join(resources, config.start.model) : resolve(config.start.model);
  if (config.kl.reference !== '') config.kl.reference = resolve(config.kl.reference);
  checkModels(config);
  if (config.start.weights === 'load' && config.start.sha256 === '') {
    config.start.sha256 = await modelDigest(config.start.model);
  }
  return writeRun(home, preset.id, config);
}

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
