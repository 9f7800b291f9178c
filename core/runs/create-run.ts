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
  checkModel(config);
  if (config.start.weights === 'load' && config.start.sha256 === '') {
    config.start.sha256 = await modelDigest(config.start.model);
  }
  return writeRun(home, preset.id, config);
}

function checkModel({ start }: RunConfig): void {
  const has = (file: string) => existsSync(join(start.model, file));
  const needed = ['config.json', 'tokenizer.json'];
  if (start.weights === 'load' && !has(weightsIndex)) needed.push(wholeWeights);
  const missing = needed.find((file) => !has(file));
  if (missing === undefined) return;
  throw new Failure(
    'model_missing',
    `The model folder ${start.model} has no ${missing}.`,
    'Set start.model to a folder in Hugging Face layout, or restore resources/starter.',
  );
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
