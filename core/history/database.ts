import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { asDiskFull, Failure } from '../api/failure.ts';
import { migrate } from './migrations.ts';

export type HistoryDatabase = Database.Database;

export const databaseFile = (home: string) => join(home, 'studio.db');

/**
 * Opens the run history of a data folder, making it where there is none. Several processes may have it open: writers wait for each other.
 * Throws `data_folder_unusable`, `disk_full` or `history_version_unsupported`.
 */
export function openDatabase(home: string): HistoryDatabase {
  let database: HistoryDatabase;
  try {
    mkdirSync(join(home, 'runs'), { recursive: true });
    database = new Database(databaseFile(home), { timeout: 30_000 });
    database.pragma('journal_mode = WAL');
  } catch (error) {
    const full = asDiskFull(error);
    if (full) throw full;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(
      'data_folder_unusable',
      `The data folder ${home} can't be used: ${reason}`,
      meansDamage(error)
        ? 'Its history is damaged: `starpo history rebuild` makes it again from the run folders.'
        : 'Check its permissions and free space, or choose another with --home or STARPO_HOME.',
    );
  }
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
  migrate(database);
  return database;
}

/** Whether SQLite says that it can't make sense of a file. What has another reason (rights, a full disk) is no damage. */
export function meansDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(NOTADB|CORRUPT)/.test(code);
}
