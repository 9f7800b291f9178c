import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../contract/failure.ts';
import type { PublishedModel } from './published.ts';

/** Returns the preferred folder of a published model. */
export const modelFolder = (home: string, { name }: PublishedModel) => join(home, 'models', name);

/** Returns the command that downloads a published model to that folder. */
export const downloadCommand = (home: string, model: PublishedModel) =>
  `hf download ${model.repository} --local-dir ${quoted(modelFolder(home, model))}`;

const quoted = (path: string) => (/^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** Finds a published model in the data folder, or its latest revision in the Hugging Face cache. Throws `model_missing`. */
export function findPublishedModel(
  home: string,
  model: PublishedModel,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const own = modelFolder(home, model);
  const cache = hubCache(environment);
  const found = [own, ...snapshots(cache, model)].find((folder) => existsSync(join(folder, 'config.json')));
  if (found !== undefined) return found;
  throw new Failure(
    'model_missing',
    `${model.name} was not found in ${own} or in the Hugging Face cache ${cache}.`,
    `Download it on the Models page or with \`${downloadCommand(home, model)}\`, or set start.model to its folder.`,
  );
}

/** Returns the folder of the Hugging Face cache. */
export function hubCache({ HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  if (HF_HUB_CACHE) return HF_HUB_CACHE;
  return join(HF_HOME || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'), 'hub');
}

/** Returns a repository's cached revisions, newest first. */
function snapshots(cache: string, { repository }: PublishedModel): string[] {
  const folder = join(cache, `models--${repository.replaceAll('/', '--')}`, 'snapshots');
  try {
    return readdirSync(folder)
      .map((name) => join(folder, name))
      .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  } catch {
    return [];
  }
}
