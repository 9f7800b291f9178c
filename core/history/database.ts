import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { asDiskFull, Failure } from '../contract/failure.ts';
import { migrate } from './migrations.ts';

export type HistoryDatabase = Database.Database;

export const databaseFile = (home: string) => join(home, 'studio.db');

/**
 * Opens the run history of a data folder, making it where there is none, and keeps it for this process alone: who has it is the folder's
 * host. The lock ends with the process, however it ends.
 * Throws `data_folder_in_use` where another has it, `data_folder_unusable`, `disk_full` or `history_version_unsupported`.
 */
export function openDatabase(home: string): HistoryDatabase {
  let database: HistoryDatabase | undefined;
  try {
    mkdirSync(join(home, 'runs'), { recursive: true });
    database = new Database(databaseFile(home), { timeout: 0 });
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    migrate(database);
    return database;
  } catch (error) {
    database?.close();
    throw openFailure(home, error);
  }
}

function openFailure(home: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const full = asDiskFull(error);
  if (full) return full;
  if (meansInUse(error)) {
    return new Failure(
      'data_folder_in_use',
      `The data folder ${home} is in use by another StarPO Studio.`,
      'Wait until it has ended, or choose another data folder with --home or STARPO_HOME.',
    );
  }
  return new Failure(
    'data_folder_unusable',
    `The data folder ${home} can't be used: ${error instanceof Error ? error.message : String(error)}`,
    meansDamage(error)
      ? 'Its history is damaged: `starpo history rebuild` makes it again from the run folders.'
      : 'Check its permissions and free space, or choose another with --home or STARPO_HOME.',
  );
}

function meansInUse(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}

/** Whether SQLite says that it can't make sense of a file. What has another reason (rights, a full disk) is no damage. */
export function meansDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(NOTADB|CORRUPT)/.test(code);
}
