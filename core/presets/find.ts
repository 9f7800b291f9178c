import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { quoted } from '../base/quoted.ts';
import { Failure } from '../contract/failure.ts';
import { cachedRevision, hubCache } from './hub-cache.ts';
import type { PublishedModel } from './published.ts';

/** Returns the preferred folder of a published model. */
export const modelFolder = (home: string, { name }: PublishedModel) => join(home, 'models', name);

/** Returns the command that downloads a published model to that folder. */
export const downloadCommand = (home: string, model: PublishedModel) =>
  `hf download ${model.repository} --local-dir ${quoted(modelFolder(home, model))}`;

/** Finds a published model in the data folder, otherwise in the Hugging Face cache. Throws `model_missing`. */
export function findPublishedModel(
  home: string,
  model: PublishedModel,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const own = modelFolder(home, model);
  const cache = hubCache(environment);
  const found = existsSync(join(own, 'config.json')) ? own : cachedRevision(cache, model.repository);
  if (found !== null) return found;
  throw new Failure(
    'model_missing',
    `${model.name} was not found in ${own} or in the Hugging Face cache ${cache}.`,
    `Download it on the Models page or with \`${downloadCommand(home, model)}\`, or set start.model to its folder.`,
  );
}
