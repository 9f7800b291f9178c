import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RebuildReport } from '../contract/contract.ts';
import { asDiskFull } from '../contract/failure.ts';
import { runFiles, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';
import { takeAnnotations } from './annotations.ts';
import type { HistoryDatabase } from './database.ts';
import type { Judge } from './echo-trap.ts';
import { ingestAll } from './ingest.ts';
import { addRun, listRunIds, listRuns, type RunRow, removeRun } from './runs-table.ts';
import { preparedValue } from './statements.ts';

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

/** Whether a run directory holds what makes it one. */
export const isRunFolder = (home: string, runId: string) =>
  existsSync(join(runFolder(home, runId), runFiles.config));

export interface RebuildOptions {
  /** Hears how many runs are done, of how many. */
  progress?: (done: number, total: number) => void;
  /** Ends it between two runs: what was made again until then holds. */
  signal?: AbortSignal;
}

/**
 * Makes the history again from the run directories alone. Every run is replaced in one transaction, so that clients see it whole all
 * the time, and a process that dies on the way leaves a history that holds. A run whose files can't be read stays as it was, and the report says so.
 */
export async function rebuildHistory(
  database: HistoryDatabase,
  home: string,
  judge: Judge,
  { progress = () => {}, signal }: RebuildOptions = {},
): Promise<RebuildReport> {
  const present = runsOnDisk(home);
  const forgotten = listRunIds(database).filter((runId) => !present.includes(runId));
  for (const runId of forgotten) removeRun(database, runId);
  const replace = database.transaction((runId: string) => {
    const folder = runFolder(home, runId);
    removeRun(database, runId);
    if (!addRun(database, runId, folder)) return;
    ingestAll(database, runId, join(folder, runFiles.journal));
    takeAnnotations(database, runId, folder);
  });
  const unreadable: string[] = [];
  for (const [index, runId] of present.entries()) {
    signal?.throwIfAborted();
    try {
      replace.immediate(runId);
      judge.forget(runId);
      judge.judge(runId);
    } catch (error) {
      if (!isOfFile(error)) throw error;
      unreadable.push(runId);
    }
    progress(index + 1, present.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...countHistory(database), skipped: foldersWithoutRun(database, home), forgotten, unreadable };
}

/** Whether a file can't be read, rather than the history not be written. */
const isOfFile = (error: unknown) => error instanceof Error && 'syscall' in error && !asDiskFull(error);

function countHistory(
  database: HistoryDatabase,
): Pick<RebuildReport, 'runs' | 'events' | 'rollouts' | 'damaged' | 'damagedAnnotations'> {
  const count = (table: string) =>
    preparedValue<[], number>(database, `SELECT count(*) FROM ${table}`).get() ?? 0;
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
