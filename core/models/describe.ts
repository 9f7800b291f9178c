import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ModelEntry } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { deviceBytes } from '../presets/device-memory.ts';
import { presets } from '../presets/presets.ts';
import { publishedModels } from '../presets/published.ts';
import { filesBytes } from '../run-directory/measure.ts';
import { shardNames, weightsIndex } from '../run-directory/model-digest.ts';
import { wholeWeights } from '../run-directory/names.ts';
import { type ModelConfig, readJson, readModelConfig } from './model-config.ts';
import { readTensors, type StoredTensor } from './safetensors.ts';

/** A model folder before its files are read. */
export type ModelFolder = Pick<ModelEntry, 'name' | 'folder' | 'source' | 'repository'>;

const precisions: Record<StoredTensor['type'], string> = { F32: 'fp32', F16: 'fp16', BF16: 'bf16' };

/** Describes a model folder from its configuration and weight headers. Problems are part of the description, not errors. */
export async function describeModel(model: ModelFolder): Promise<ModelEntry> {
  const { folder } = model;
  const description = {
    ...model,
    license: await licenseOf(model),
    architecture: await architectureOf(folder),
    bytes: await bytesIn(folder),
  };
  const unknown = { parameters: null, precision: null, trainingBytes: null };
  try {
    const config = await readModelConfig(folder);
    const tensors = await tensorsOf(folder);
    requireTokenizer(folder);
    return {
      ...description,
      parameters: tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
      precision: [...new Set(tensors.map(({ type }) => precisions[type]))].join(', '),
      trainingBytes: trainingBytes(model, config),
      problem: null,
    };
  } catch (error) {
    return { ...description, ...unknown, problem: asFailure(error).toApiError() };
  }
}

async function tensorsOf(folder: string): Promise<StoredTensor[]> {
  const has = (name: string) => existsSync(join(folder, name));
  if (!has(wholeWeights) && !has(weightsIndex)) throw missing(folder, wholeWeights);
  const files = has(wholeWeights) ? [wholeWeights] : await shardNames(folder);
  const read = await Promise.all(files.map((file) => readTensors(join(folder, file))));
  return read.flatMap((tensors) => [...tensors.values()]);
}

function requireTokenizer(folder: string): void {
  if (!existsSync(join(folder, 'tokenizer.json'))) throw missing(folder, 'tokenizer.json');
}

const missing = (folder: string, name: string) =>
  new Failure('model_missing', `${folder} has no ${name}.`, 'Download the whole model folder again.');

async function architectureOf(folder: string): Promise<string | null> {
  const config = (await readJson(join(folder, 'config.json')).catch(() => null)) as {
    architectures?: unknown;
    model_type?: unknown;
  } | null;
  const [first] = [config?.architectures ?? []].flat();
  const named = first ?? config?.model_type;
  return typeof named === 'string' ? named.slice(0, 64) : null;
}

/** Returns the memory for training with the model's preset, or with the smallest preset if it has none. */
function trainingBytes({ name, source }: ModelFolder, config: ModelConfig): number | null {
  if (source === 'starter') return null;
  const preset = presets.find(({ model }) => model?.name === name) ?? presets.find(({ model }) => model);
  return preset ? deviceBytes(preset.config, config) : null;
}

/** Returns the license from the front matter of the model card, otherwise of the published model. */
async function licenseOf({ name, folder, source }: ModelFolder): Promise<string | null> {
  if (source === 'starter') return 'MIT, like the app';
  const card = await readFile(join(folder, 'README.md'), 'utf8').catch(() => '');
  const head = /^---\r?\n([\s\S]*?)\r?\n---/.exec(card.slice(0, 20_000))?.[1] ?? '';
  const named = /^license_name:\s*(.+)$/m.exec(head)?.[1] ?? /^license:\s*(\S.*)$/m.exec(head)?.[1];
  const published = publishedModels.find((model) => model.name === name);
  return named?.trim().slice(0, 80) ?? published?.license ?? null;
}

/** Returns the total size of the files in a folder. Follows links, which the cache uses. */
async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  return filesBytes(names.map((name) => join(folder, name)));
}

/** Returns the last part of a path. */
export const folderName = (folder: string) => basename(folder) || folder;
