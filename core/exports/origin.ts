import { readFileSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { publishedModels } from '../presets/published.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { runFiles, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';

/** The model that a run's weights come from in the end, through however many forks. */
export interface Origin {
  /** For people. */
  name: string;
  /** At Hugging Face; null: none that this app knows. */
  repository: string | null;
  /** Null: not known. */
  licence: { id: string; title: string } | null;
}

/** A line of forks longer than this is none that a person made. */
const longestLine = 64;

const licences: Record<string, string> = { 'Apache 2.0': 'apache-2.0' };

/** Where a run begins. `starter`: the folder of the app's own policy. */
export function originOf(config: RunConfig, { home, starter }: { home: string; starter: string }): Origin {
  const { start } = firstOf(config, home);
  const name = basename(start.model);
  if (start.weights === 'random')
    return { name: `random weights (shape of ${name})`, repository: null, licence: ownLicence };
  if (resolve(start.model) === resolve(starter) || isStarter(start.model))
    return { name: "StarPO Studio's starter policy", repository: null, licence: ownLicence };
  const published = publishedModels.find(
    (model) =>
      model.name === name ||
      start.model.split(sep).includes(`models--${model.repository.replace('/', '--')}`),
  );
  if (!published) return { name: `the model "${name}"`, repository: null, licence: null };
  const { repository, licence } = published;
  return { name: published.name, repository, licence: { id: licences[licence] ?? 'other', title: licence } };
}

const ownLicence = { id: 'mit', title: 'MIT' };

/** As it lies in a checkout or an installed app, of this machine or another. */
const isStarter = (folder: string) => /(^|[\\/])resources[\\/]starter$/.test(folder);

/** The first run of a line of forks, as far back as their folders are there. */
function firstOf(config: RunConfig, home: string): RunConfig {
  let first = config;
  for (let steps = 0; steps < longestLine; steps++) {
    const run = runBefore(first, home);
    if (!runIdPattern.test(run)) break;
    try {
      const path = join(runFolder(home, run), runFiles.config);
      first = validateConfig(JSON.parse(readFileSync(path, 'utf8')));
    } catch {
      // Its parent is gone: what it named itself is all that is known.
      break;
    }
  }
  return first;
}

/** Returns the run that the weights come from: the parent of a fork, or the run whose checkpoint is the model. Otherwise a text that is not a run id. */
function runBefore({ start }: RunConfig, home: string): string {
  if (start.run !== '' || start.weights === 'random') return start.run;
  return relative(runsFolder(home), start.model).split(sep)[0]!;
}
