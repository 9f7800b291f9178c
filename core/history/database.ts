import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { asDiskFull, Failure } from '../contract/failure.ts';
import { historyVersion, migrate, versionOf } from './migrations.ts';

export type HistoryDatabase = Database.Database;

export const databaseFile = (home: string) => join(home, 'studio.db');
const lockFile = (home: string) => join(home, 'studio.lock');

/** Whether a folder is a data folder: a process that locked it left its lock file there. */
export const isDataFolder = (folder: string) =>
  existsSync(lockFile(folder)) || existsSync(databaseFile(folder));

/**
 * Locks a data folder for this process until it is released; the process is then the folder's host. The operating system releases the lock when the
 * process exits. Throws `data_folder_in_use`, `data_folder_unusable` or `disk_full`.
 */
export function lockFolder(home: string): { release(): void } {
  return opening(home, () => {
    mkdirSync(join(home, 'runs'), { recursive: true });
    const lock = takeLock(lockFile(home));
    return { release: () => void lock.close() };
  });
}

/** An empty database in a transaction that never ends: SQLite locks files where Node can't. */
function takeLock(file: string): HistoryDatabase {
  const lock = new Database(file, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    // A file that is not a database cannot be locked.
    if (!meansDamage(error)) throw error;
    rmSync(file);
    return takeLock(file);
  }
}

/**
 * Opens or creates the run history of a data folder for exclusive use by one thread, without host or worker.
 * Throws `data_folder_in_use`, `data_folder_unusable`, `disk_full`, `history_version_unsupported` or `history_outdated`.
 */
export function openDatabase(home: string): HistoryDatabase {
  return opening(home, () => {
    mkdirSync(join(home, 'runs'), { recursive: true });
    return openWith(home, { timeout: 0 }, (database) => {
      database.pragma('locking_mode = EXCLUSIVE');
      database.pragma('journal_mode = WAL');
      database.exec('BEGIN EXCLUSIVE; COMMIT');
      makeReady(database);
    });
  });
}

/** The one connection that writes, in a process that has locked the folder. Throws as {@link openDatabase} does. */
export function openWriter(home: string): HistoryDatabase {
  return opening(home, () =>
    openWith(home, { timeout: 0 }, (database) => {
      database.pragma('journal_mode = WAL');
      makeReady(database);
    }),
  );
}

/** A connection that sees whole transactions of the writer's, waits for none, and changes nothing. Throws as {@link openDatabase} does. */
export function openReader(home: string): HistoryDatabase {
  return opening(home, () =>
    openWith(home, { readonly: true, timeout: 0 }, (database) => void versionOf(database)),
  );
}

/** Whether a history is of a newer StarPO Studio. */
export const isNewer = (database: HistoryDatabase) => versionOf(database) > historyVersion;

function makeReady(database: HistoryDatabase): void {
  database.pragma('synchronous = NORMAL');
  // Taking in a folder of years writes all over the tables: less often to the disk, in larger pieces.
  database.pragma('cache_size = -32000');
  database.pragma('wal_autocheckpoint = 4000');
  database.pragma('foreign_keys = ON');
  migrate(database);
}

function openWith(
  home: string,
  options: Database.Options,
  prepare: (database: HistoryDatabase) => void,
): HistoryDatabase {
  const database = new Database(databaseFile(home), options);
  try {
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function opening<T>(home: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
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
      'Wait until it ends, or choose another data folder with --home or STARPO_HOME.',
    );
  }
  return new Failure(
    'data_folder_unusable',
    `The data folder ${home} can't be used: ${error instanceof Error ? error.message : String(error)}`,
    meansDamage(error)
      ? `Its run history is damaged but can be rebuilt from the run folders. Run \`starpo history rebuild\`, or delete ${databaseFile(home)} and its -wal and -shm files and start again.`
      : 'Check its permissions and free space, or choose another data folder with --home or STARPO_HOME.',
  );
}

function meansInUse(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}

/** Whether SQLite reports a file as corrupt. Other errors (permissions, a full disk) are not damage. */
export function meansDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(NOTADB|CORRUPT)/.test(code);
}
