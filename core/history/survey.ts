import { statSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles, runFolder } from '../run-directory/names.ts';
import type { HistoryDatabase } from './database.ts';
import { folderIdentity, isSameJournal } from './identity.ts';
import { isRunFolder, runsOnDisk } from './rebuild.ts';
import { removeRun } from './runs-table.ts';
import { prepared } from './statements.ts';

/** How the run directories differ from the history, by run ids. */
export interface Survey {
  /** In the history no longer: the directory is gone, or another run's has come in its place. */
  removed: string[];
  /** Not in the history; some may be no runs. */
  added: string[];
  /** Their journal or annotations differ from what was read, or what was read was not looked through. */
  changed: string[];
}

type Known = { id: string; journal_offset: number; annotations_bytes: number; pending: 0 | 1 };

/** Looks at every run directory, and again whenever it is asked. */
export class Surveyor {
  private readonly database: HistoryDatabase;
  private readonly home: string;
  /** Which directory each run was seen in. */
  private readonly identities = new Map<string, string>();

  constructor(database: HistoryDatabase, home: string) {
    this.database = database;
    this.home = home;
  }

  survey(): Survey {
    const known = prepared<[], Known>(
      this.database,
      `SELECT id, journal_offset, annotations_bytes,
         parent IS NULL OR algorithm IS NULL OR (task <> 'warm_start' AND last_seq > coalesce(echo_trap.seq, -1)) AS pending
       FROM runs LEFT JOIN echo_trap ON echo_trap.run = runs.id ORDER BY created_at DESC, id DESC`,
    ).all();
    const removed = known.filter(({ id }) => !this.isThere(id)).map(({ id }) => id);
    for (const id of removed) {
      removeRun(this.database, id);
      this.identities.delete(id);
    }
    const kept = known.filter(({ id }) => !removed.includes(id));
    const ids = new Set(kept.map(({ id }) => id));
    return {
      removed,
      added: runsOnDisk(this.home).filter((id) => !ids.has(id)),
      changed: kept.filter((run) => this.hasChanged(run)).map(({ id }) => id),
    };
  }

  /** What lies under a run's name is that run: looked at where it is another directory than it was, and at first. */
  private isThere(runId: string): boolean {
    if (!isRunFolder(this.home, runId)) return false;
    const folder = runFolder(this.home, runId);
    const identity = folderIdentity(folder);
    if (this.identities.get(runId) === identity) return true;
    this.identities.set(runId, identity);
    return isSameJournal(this.database, runId, join(folder, runFiles.journal));
  }

  private hasChanged({ id, journal_offset, annotations_bytes, pending }: Known): boolean {
    if (pending) return true;
    const size = (name: string) =>
      statSync(join(runFolder(this.home, id), name), { throwIfNoEntry: false })?.size ?? 0;
    return size(runFiles.journal) !== journal_offset || size(runFiles.annotations) !== annotations_bytes;
  }
}
