import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { publishedModels } from '../presets/published.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { checkpointAt } from '../run-directory/checkpoints.ts';
import { runFiles, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';

/** The model that a run's weights derive from, through all its forks. */
export interface Origin {
  /** Display name. */
  name: string;
  /** Repository on Hugging Face, or null if it is unknown. */
  repository: string | null;
  /** Null if it is unknown. */
  license: { id: string; title: string } | null;
}

/** Maximum number of parents to follow. */
const maxParents = 64;

const licenses: Record<string, string> = { 'Apache 2.0': 'apache-2.0' };

/** Returns the origin of a run. `starter` is the folder of the starter policy. */
export function originOf(config: RunConfig, { home, starter }: { home: string; starter: string }): Origin {
  const { start } = ancestorOf(config, home);
  const name = basename(start.model);
  if (start.weights === 'random')
    return { name: `random weights (shape of ${name})`, repository: null, license: ownLicense };
  if (dirname(resolve(start.model)) === dirname(resolve(starter)) || isStarter(start.model))
    return { name: ownModel(name), repository: null, license: ownLicense };
  const published = publishedModels.find(
    (model) => model.name === name || start.model.split(sep).includes(`models--${model.repository.replace('/', '--')}`),
  );
  if (!published) return { name: folderTitle(start.model), repository: null, license: null };
  const { repository, license } = published;
  return { name: published.name, repository, license: { id: licenses[license] ?? 'other', title: license } };
}

const ownLicense = { id: 'mit', title: 'MIT' };

/** Returns the name of a folder that is not a known model: a checkpoint, for example of a deleted run, or a model. */
function folderTitle(folder: string): string {
  const checkpoint = checkpointAt(folder);
  return checkpoint ? titleOf(checkpoint.iteration) : `the model "${basename(folder)}"`;
}

const titleOf = (iteration: number) => `checkpoint ${iteration} of another run`;

/** Returns the trained checkpoint that a run started from: a fork's, or one chosen as the model; null if there is none. */
export function parentCheckpoint({ start }: RunConfig): string | null {
  if (start.run === '' && start.weights === 'random') return null;
  const iteration = start.run === '' ? (checkpointAt(start.model)?.iteration ?? 0) : start.checkpoint;
  return iteration === 0 ? null : titleOf(iteration);
}

const ownModel = (folderName: string) =>
  `StarPO Studio's starter policy${folderName === 'starter-shop' ? ' for WebShop' : ''}`;

/** Returns whether a folder is a starter policy of any checkout or installation, also on another machine. */
const isStarter = (folder: string) => /(^|[\\/])resources[\\/]starter(-shop)?$/.test(folder);

/** Returns the configuration of a run's oldest ancestor that still exists. */
function ancestorOf(config: RunConfig, home: string): RunConfig {
  let first = config;
  for (let steps = 0; steps < maxParents; steps++) {
    const run = parentOf(first, home);
    if (!runIdPattern.test(run)) break;
    try {
      const path = join(runFolder(home, run), runFiles.config);
      first = validateConfig(JSON.parse(readFileSync(path, 'utf8')));
    } catch {
      // The parent was deleted.
      break;
    }
  }
  return first;
}

/** Returns the parent of a fork, or the run whose checkpoint is the model. Returns text that is not a run id if there is none. */
function parentOf({ start }: RunConfig, home: string): string {
  if (start.run !== '' || start.weights === 'random') return start.run;
  return relative(runsFolder(home), start.model).split(sep)[0]!;
}
