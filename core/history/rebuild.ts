import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RebuildReport } from '../contract/contract.ts';
import { asDiskFull } from '../contract/failure.ts';
import { runFiles, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';
import { takeAnnotations } from './annotations.ts';
import type { HistoryDatabase } from './database.ts';
import { isSameJournal } from './identity.ts';
import { ingestAll, ingestAtOnce } from './ingest.ts';
import { addRun, listRunIds, listRuns, type RunRow, removeRun } from './runs-table.ts';

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

/**
 * Brings the history to what the run directories say: new ones in, deleted ones out, replaced ones anew, journals read to their end. A run whose files
 * can't be read stays as it was, and `failed` hears why.
 */
export async function syncHistory(
  database: HistoryDatabase,
  home: string,
  failed: (runId: string, error: unknown) => void,
): Promise<void> {
  for (const runId of listRunIds(database)) {
    const folder = runFolder(home, runId);
    const there = existsSync(join(folder, runFiles.config));
    if (!there || !isSameJournal(database, runId, join(folder, runFiles.journal))) removeRun(database, runId);
  }
  for (const runId of runsOnDisk(home)) {
    const folder = runFolder(home, runId);
    if (!addRun(database, runId, folder)) continue;
    try {
      await ingestAll(database, runId, join(folder, runFiles.journal));
      takeAnnotations(database, runId, folder);
    } catch (error) {
      if (!isOfFile(error)) throw error;
      failed(runId, error);
    }
  }
}

/** Whether a file can't be read, rather than the history not be written. */
const isOfFile = (error: unknown) => error instanceof Error && 'syscall' in error && !asDiskFull(error);

/**
 * Makes the history again from the run directories alone. Every run is replaced in one transaction, so that clients see it whole all
 * the time, and a process that dies on the way leaves a history that holds.
 */
export async function rebuildHistory(database: HistoryDatabase, home: string): Promise<RebuildReport> {
  const present = runsOnDisk(home);
  const forgotten = listRunIds(database).filter((runId) => !present.includes(runId));
  for (const runId of forgotten) removeRun(database, runId);
  const replace = database.transaction((runId: string) => {
    const folder = runFolder(home, runId);
    removeRun(database, runId);
    if (!addRun(database, runId, folder)) return;
    ingestAtOnce(database, runId, join(folder, runFiles.journal));
    takeAnnotations(database, runId, folder);
  });
  for (const runId of present) {
    replace.immediate(runId);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...countHistory(database), skipped: foldersWithoutRun(database, home), forgotten };
}

function countHistory(
  database: HistoryDatabase,
): Pick<RebuildReport, 'runs' | 'events' | 'rollouts' | 'damaged' | 'damagedAnnotations'> {
  const count = (table: string) =>
    database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  const rows = listRuns(database);
  const ids = (damaged: (row: RunRow) => boolean) => rows.filter(damaged).map((row) => row.id);
  return {
    runs: count('runs'),
    events: count('events'),
    rollouts: count('rollouts WHERE removed = 0'),
    damaged: ids((row) => row.journal_problem !== null),
    damagedAnnotations: ids((row) => row.annotations_problem !== null),
  };
}

/** A name with a dot in front is a run that is just being made. */
function foldersWithoutRun(database: HistoryDatabase, home: string): string[] {
  const known = new Set(listRunIds(database));
  return readdirSync(runsFolder(home)).filter((name) => !name.startsWith('.') && !known.has(name));
}
