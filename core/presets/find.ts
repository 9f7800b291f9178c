import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../contract/failure.ts';
import type { PublishedModel } from './published.ts';

/** Where a published model is looked for first, and where it is best put. */
export const modelFolder = (home: string, { name }: PublishedModel) => join(home, 'models', name);

/** A command that puts a published model there. */
export const downloadCommand = (home: string, model: PublishedModel) =>
  `hf download ${model.repository} --local-dir ${quoted(modelFolder(home, model))}`;

const quoted = (path: string) => (/^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** The folder of a published model on this machine: in the data folder, or the newest of Hugging Face's cache. Throws `model_missing`. */
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
    `${model.name} isn't on this machine: neither in ${own} nor in Hugging Face's cache ${cache}.`,
    `Download it on the Models page or with \`${downloadCommand(home, model)}\`, or set start.model to where it is.`,
  );
}

/** Hugging Face's cache, where its own programs put models. */
export function hubCache({ HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  if (HF_HUB_CACHE) return HF_HUB_CACHE;
  return join(HF_HOME || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'), 'hub');
}

/** A repository's revisions in the cache, newest first. */
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
