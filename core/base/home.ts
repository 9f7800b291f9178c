import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure } from '../contract/failure.ts';

/** The resources of a checkout: this file is in `core/base`, or in the bundle's folder `out/main`. */
export const defaultResources = join(import.meta.dirname, '../../resources');

/** Returns the data folder: the given one, STARPO_HOME, or the XDG default. Throws `data_folder_unusable` for a name that is not UTF-8. */
export function dataFolder(named?: string, environment: NodeJS.ProcessEnv = process.env): string {
  const chosen = named ?? environment.STARPO_HOME;
  const base = environment.XDG_DATA_HOME || join(homedir(), '.local', 'share');
  const folder = chosen ? resolve(chosen) : join(base, 'starpo-studio');
  // Node replaces invalid bytes with this character, so the path would name a different folder.
  if (folder.includes('\ufffd'))
    throw new Failure(
      'data_folder_unusable',
      `The name of the data folder ${folder} is not valid UTF-8.`,
      'Rename the folder, or choose another data folder with --home or STARPO_HOME.',
    );
  return folder;
}
