import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { UnreadableFolder } from '../contract/contract.ts';
import { namesIn, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';
import type { HistoryDatabase } from './database.ts';
import { listRunIds, readRunConfig } from './runs-table.ts';

/** Returns the folders under runs/ that are not in the history, with the reason. Names with a leading dot are runs that are being created. */
export function unreadableFolders(database: HistoryDatabase, home: string): UnreadableFolder[] {
  const stored = new Set(listRunIds(database));
  return namesIn(runsFolder(home), /^[^.]/).flatMap((name) => {
    const reason = stored.has(name) ? null : whyUnreadable(home, name);
    return reason === null ? [] : [{ name, reason }];
  });
}

/** Returns why a folder is not indexed; null if it will be, or if it is a file. */
export function whyUnreadable(home: string, name: string): string | null {
  const folder = join(runsFolder(home), name);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return null;
  if (lstatSync(folder).isSymbolicLink()) return 'it is a symbolic link; move the folder here, or use `starpo adopt`';
  if (!runIdPattern.test(name)) return 'its name is not a run id; use `starpo adopt`';
  try {
    readRunConfig(runFolder(home, name));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
