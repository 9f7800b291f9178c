import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ModelState } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { findPublishedModel } from '../presets/find.ts';
import { publishedModel } from '../presets/published.ts';
import type { Trainer } from '../trainer/trainer.ts';

/** Checks whether a published model's folder can be used for training. Throws `model_unknown`. */
export async function inspectModel(
  { home, trainer }: { home: string; trainer: Pick<Trainer, 'inspect'> },
  name: string,
  chosen?: string,
): Promise<ModelState> {
  const model = publishedModel(name);
  let folder: string | null = null;
  try {
    folder = chosen ? existing(resolve(chosen)) : findPublishedModel(home, model);
    const { parameters } = await trainer.inspect(folder);
    return { folder, parameters, problem: null };
  } catch (error) {
    return { folder, parameters: null, problem: asFailure(error).toApiError() };
  }
}

function existing(folder: string): string {
  if (existsSync(join(folder, 'config.json'))) return folder;
  throw new Failure(
    'model_missing',
    `The model folder ${folder} has no config.json.`,
    'Choose the folder with config.json, tokenizer.json and the safetensors files.',
  );
}
