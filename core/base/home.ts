import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Returns the data folder: the given one, STARPO_HOME, or the XDG default. */
export function dataFolder(named?: string, environment: NodeJS.ProcessEnv = process.env): string {
  const chosen = named ?? environment.STARPO_HOME;
  if (chosen) return resolve(chosen);
  const base = environment.XDG_DATA_HOME || join(homedir(), '.local', 'share');
  return join(base, 'starpo-studio');
}
