import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { asDiskFull } from '../contract/failure.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import type { HistoryDatabase } from './database.ts';
import { folderIdentity, isSameJournal } from './identity.ts';
import { isRunFolder, runsOnDisk } from './rebuild.ts';
import { removeRun } from './runs-table.ts';
import { prepared } from './statements.ts';

/** Differences between the run directories and the history, as run ids. */
export interface Survey {
  /** Removed from the history, because the directory was deleted or replaced by another run's. */
  removed: string[];
  /** Directories that are not in the history; some may not be runs. */
  added: string[];
  /** Runs with new events or annotations, or with events that the monitor has not processed. */
  changed: string[];
}

interface StoredRun {
  id: string;
  journal_offset: number;
  /** Modification time of the ingested journal in ms; null if unknown. */
  journal_modified: number | null;
  annotations_bytes: number;
  pending: 0 | 1;
  completed: 0 | 1;
}

/** Compares the run directories with the history. */
export class Surveyor {
  private readonly database: HistoryDatabase;
  private readonly home: string;
  /** Identity of each run's directory at the last survey. */
  private readonly identities = new Map<string, string>();

  constructor(database: HistoryDatabase, home: string) {
    this.database = database;
    this.home = home;
  }

  survey(): Survey {
    const stored = prepared<[], StoredRun>(
      this.database,
      `SELECT id, journal_offset, journals.modified AS journal_modified, annotations_bytes,
         task <> 'warm_start' AND last_seq > coalesce(echo_trap.seq, -1) AS pending,
         status = 'completed' AS completed
       FROM runs LEFT JOIN echo_trap ON echo_trap.run = runs.id LEFT JOIN journals ON journals.run = runs.id
       ORDER BY created_at DESC, id DESC`,
    ).all();
    const removed = stored.filter(({ id }) => !this.exists(id)).map(({ id }) => id);
    for (const id of removed) {
      this.remove(id);
      this.identities.delete(id);
    }
    const present = stored.filter(({ id }) => !removed.includes(id));
    const ids = new Set(present.map(({ id }) => id));
    return {
      removed,
      added: runsOnDisk(this.home).filter((id) => !ids.has(id)),
      changed: present.filter((run) => this.hasChanged(run)).map(({ id }) => id),
    };
  }

  /** On a full disk, the run is removed by a later survey. */
  private remove(runId: string): void {
    try {
      removeRun(this.database, runId);
    } catch (error) {
      if (!asDiskFull(error)) throw error;
    }
  }

  /** Returns whether the directory with a run's name contains that run. Reads its journal only if the directory was replaced, and at first. */
  private exists(runId: string): boolean {
    if (!isRunFolder(this.home, runId)) return false;
    const folder = runFolder(this.home, runId);
    const identity = folderIdentity(folder);
    if (this.identities.get(runId) === identity) return true;
    this.identities.set(runId, identity);
    return isSameJournal(this.database, runId, join(folder, runFiles.journal));
  }

  private hasChanged({ id, journal_offset, journal_modified, annotations_bytes, ...run }: StoredRun): boolean {
    if (run.pending) return true;
    const stat = (name: string) => statSync(join(runFolder(this.home, id), name), { throwIfNoEntry: false });
    const journal = run.completed
      ? stat(runFiles.journal)
      : freshStat(join(runFolder(this.home, id), runFiles.journal));
    if ((journal?.size ?? 0) !== journal_offset) return true;
    if (journal && journal_offset > 0 && journal.mtimeMs !== journal_modified) return true;
    return (stat(runFiles.annotations)?.size ?? 0) !== annotations_bytes;
  }
}

/** Opens the file first: a network file system may cache the attributes of a name for a minute. Returns undefined if it is missing. */
function freshStat(path: string): Stats | undefined {
  let file: number;
  try {
    // O_NONBLOCK: a pipe must not block.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return statSync(path, { throwIfNoEntry: false });
  }
  try {
    return fstatSync(file);
  } finally {
    closeSync(file);
  }
}
