import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The data folder: named explicitly, by STARPO_HOME, or where the system keeps a program's data. */
export function dataFolder(named?: string, environment: NodeJS.ProcessEnv = process.env): string {
  const chosen = named ?? environment.STARPO_HOME;
  if (chosen) return resolve(chosen);
  const base = environment.XDG_DATA_HOME || join(homedir(), '.local', 'share');
  return join(base, 'starpo-studio');
}
