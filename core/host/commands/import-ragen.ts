import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { defaultResources } from '../../base/home.ts';
import { defaultNames, isLink, stemOf } from '../../config-imports/compose.ts';
import { importWithSources, namingSource } from '../../config-imports/import-config.ts';
import { type ConfigText, parseConfig } from '../../config-imports/parse-config.ts';
import type { ImportNote } from '../../contract/configuration.ts';
import { asFileFailure, Failure } from '../../contract/failure.ts';
import { fileReason } from '../../contract/file-errors.ts';
import { ignoreMissingTrainer } from '../../runs/create-run.ts';
import { trainerCandidates } from '../../trainer/executable.ts';
import { Trainer } from '../../trainer/trainer.ts';
import { print } from '../output.ts';

const words: Record<ImportNote['kind'], string> = {
  mapped: 'Mapped',
  changed: 'Changed',
  no_counterpart: 'No counterpart',
  default: 'Default',
};

/**
 * Converts a configuration of another trainer and prints `{"config", "notes"}`. Files in defaults lists are also read from the same folder. If the trainer
 * is built, it checks the configuration.
 */
export async function importRagen(given: string[]): Promise<void> {
  const isOverride = (text: string) => /^(~|\+{0,2}[\w.@/-]+=)/.test(text) && !existsSync(text);
  const files = withDefaults(given.filter((text) => !isOverride(text)));
  const { config, notes, sources } = importWithSources(files, given.filter(isOverride));
  const trainer = new Trainer(trainerCandidates(process.env.STARPO_RESOURCES ?? defaultResources));
  await ignoreMissingTrainer(trainer.validate(config)).catch((error) => {
    throw namingSource(error, sources);
  });
  print(JSON.stringify({ config, notes: notes.map(({ kind, text }) => `${words[kind]}: ${text}`) }, null, 2));
}

/** Reads files, and the files in their defaults lists if they are beside them. */
function withDefaults(paths: readonly string[]): ConfigText[] {
  const named = [...new Set(paths.map((path) => resolve(path)))];
  const files = named.map((path) => ({ path, name: basename(path), text: read(path) }));
  // The list grows while it is read.
  for (const { path, name, text } of files) {
    if (isLink(text)) continue;
    for (const stem of defaultNames(name, parseConfig({ name, text }))) {
      const beside = join(dirname(path), `${stem}.yaml`);
      if (!files.some((each) => stemOf(each.name) === stem) && existsSync(beside))
        files.push({ path: beside, name: basename(beside), text: read(beside) });
    }
  }
  return files.map(({ name, text }) => ({ name, text }));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!asFileFailure(error)) throw error;
    throw new Failure(
      'config_unreadable',
      `${path} can't be read: ${fileReason(error)}.`,
      'Give a YAML or JSON file, or an override of the form key=value.',
    );
  }
}
