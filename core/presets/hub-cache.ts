import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The Hugging Face cache, found and read by the rules of huggingface_hub. */

interface CachedModel {
  /** For example `Qwen/Qwen2.5-0.5B-Instruct`. */
  repository: string;
  /** Folder of a revision. */
  folder: string;
}

/** Returns the folder of the cache. */
export function hubCache(environment: NodeJS.ProcessEnv = process.env): string {
  const { HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = environment;
  const home = environment.HOME || homedir();
  const chosen = HF_HUB_CACHE || HUGGINGFACE_HUB_CACHE;
  if (chosen) return expanded(chosen, environment);
  return join(expanded(HF_HOME || join(XDG_CACHE_HOME || join(home, '.cache'), 'huggingface'), environment), 'hub');
}

/** Replaces a leading `~` and variables such as `$USER` or `${USER}`. Unknown variables are unchanged. */
function expanded(path: string, environment: NodeJS.ProcessEnv): string {
  return path
    .replace(/^~(?=\/|$)/, () => environment.HOME || homedir())
    .replace(/\$(?:(\w+)|\{([^}]*)\})/g, (text, plain, braced) => environment[plain ?? braced] ?? text);
}

/** Returns the cached models, each at its best revision, sorted by repository. */
export function cachedModels(): CachedModel[] {
  const cache = hubCache();
  return namesIn(cache).flatMap((name) => {
    const [kind, owner, ...rest] = name.split('--');
    if (kind !== 'models' || owner === undefined || rest.length === 0) return [];
    const repository = `${owner}/${rest.join('--')}`;
    const folder = cachedRevision(cache, repository);
    return folder === null ? [] : [{ repository, folder }];
  });
}

/**
 * Returns the folder of the branch `main`; if it is incomplete, that of the newest complete revision. Programs that only need a tokenizer
 * leave revisions without weights. Returns null if there is no revision with a config.json.
 */
export function cachedRevision(cache: string, repository: string): string | null {
  const folder = join(cache, `models--${repository.replaceAll('/', '--')}`);
  const revisions = namesIn(join(folder, 'snapshots'))
    .map((revision) => ({ revision, path: join(folder, 'snapshots', revision) }))
    .sort((a, b) => statSync(b.path).mtimeMs - statSync(a.path).mtimeMs);
  const main = revisionOf(join(folder, 'refs/main'));
  const candidates = [
    ...revisions.filter(({ revision }) => revision === main),
    ...revisions.filter(({ revision }) => revision !== main),
  ].map(({ path }) => path);
  const has = (file: string) => (path: string) => existsSync(join(path, file));
  return candidates.find(isComplete) ?? candidates.find(has('config.json')) ?? null;
}

/** Returns whether a revision has all files of a model. Links to blobs that are not downloaded count as missing. */
function isComplete(folder: string): boolean {
  const has = (file: string) => existsSync(join(folder, file));
  if (!has('config.json') || !has('tokenizer.json')) return false;
  if (has('model.safetensors')) return true;
  try {
    const index = JSON.parse(readFileSync(join(folder, 'model.safetensors.index.json'), 'utf8'));
    return Object.values<string>(index.weight_map).every(has);
  } catch {
    return false;
  }
}

function revisionOf(ref: string): string | null {
  try {
    return readFileSync(ref, 'utf8').trim();
  } catch {
    return null;
  }
}

/** Returns the names of the folders in a folder; an empty list if it is unreadable. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
      .map(({ name }) => name)
      .filter((name) => existsSync(join(folder, name)))
      .sort();
  } catch {
    return [];
  }
}
