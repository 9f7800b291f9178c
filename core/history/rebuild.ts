import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RebuildReport } from '../contract/contract.ts';
import { asDiskFull } from '../contract/failure.ts';
import { runFiles, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';
import { ingestAnnotations } from './annotations.ts';
import type { HistoryDatabase } from './database.ts';
import { ingestAll } from './ingest.ts';
import type { RunMonitors } from './run-monitors.ts';
import { addRun, listRunIds, listRuns, type RunRow, removeRun } from './runs-table.ts';
import { preparedValue } from './statements.ts';
import { unreadableFolders } from './unreadable.ts';

/** Returns the names of the existing run directories. */
export function runsOnDisk(home: string): string[] {
  try {
    return readdirSync(runsFolder(home), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && runIdPattern.test(entry.name))
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** Returns whether a run directory has a run.json. */
export const isRunFolder = (home: string, runId: string) => existsSync(join(runFolder(home, runId), runFiles.config));

export interface RebuildOptions {
  /** Called with the number of rebuilt runs and the total. */
  progress?: (done: number, total: number) => void;
  /** Stops between two runs and keeps the runs rebuilt so far. */
  signal?: AbortSignal;
}

/**
 * Rebuilds the history from the run directories alone. Each run is replaced in one transaction, so clients always see complete runs, and a process
 * that exits early leaves a consistent history. A run with unreadable files keeps its old history, and the report lists it.
 */
export async function rebuildHistory(
  database: HistoryDatabase,
  home: string,
  monitors: RunMonitors,
  { progress = () => {}, signal }: RebuildOptions = {},
): Promise<RebuildReport> {
  const present = runsOnDisk(home);
  const stored = listRunIds(database);
  const forgotten = stored.filter((runId) => !present.includes(runId));
  for (const runId of forgotten) removeRun(database, runId);
  const replace = database.transaction((runId: string) => {
    const folder = runFolder(home, runId);
    removeRun(database, runId);
    if (!addRun(database, runId, folder)) {
      if (stored.includes(runId)) throw new RunUnreadable();
      return;
    }
    ingestAll(database, runId, join(folder, runFiles.journal));
    ingestAnnotations(database, runId, folder);
  });
  const unreadable: string[] = [];
  for (const [index, runId] of present.entries()) {
    signal?.throwIfAborted();
    try {
      replace.immediate(runId);
      monitors.forget(runId);
      monitors.update(runId);
    } catch (error) {
      if (!(error instanceof RunUnreadable || isFileError(error))) throw error;
      unreadable.push(runId);
    }
    progress(index + 1, present.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...countHistory(database), skipped: unreadableFolders(database, home), forgotten, unreadable };
}

/** A run in the history has no readable run.json. */
class RunUnreadable extends Error {}

/** Returns whether an error comes from reading a run's files and not from writing the history. */
const isFileError = (error: unknown) => error instanceof Error && 'syscall' in error && !asDiskFull(error);

function countHistory(
  database: HistoryDatabase,
): Pick<RebuildReport, 'runs' | 'events' | 'rollouts' | 'damaged' | 'damagedAnnotations'> {
  const count = (table: string) => preparedValue<[], number>(database, `SELECT count(*) FROM ${table}`).get() ?? 0;
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
