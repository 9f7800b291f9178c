import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';
import type { HistoryDatabase } from './database.ts';
import { ingestAll } from './ingest.ts';
import { addRun, listRunIds, removeRun } from './runs-table.ts';

/** Names of the run directories that are there. */
export function runsOnDisk(home: string): string[] {
  try {
    return readdirSync(runsFolder(home), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && runIdPattern.test(entry.name))
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** Brings the history to what the run directories say: new ones in, deleted ones out, journals read to their end. */
export async function syncHistory(database: HistoryDatabase, home: string): Promise<void> {
  for (const runId of listRunIds(database)) {
    if (!existsSync(join(runFolder(home, runId), runFiles.config))) removeRun(database, runId);
  }
  for (const runId of runsOnDisk(home)) {
    const folder = runFolder(home, runId);
    if (await addRun(database, runId, folder))
      await ingestAll(database, runId, join(folder, runFiles.journal));
  }
}

/** Makes the history again from the run directories alone. */
export async function rebuildHistory(database: HistoryDatabase, home: string): Promise<void> {
  for (const runId of listRunIds(database)) removeRun(database, runId);
  await syncHistory(database, home);
}
