import { existsSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { ensureFolder, makeFolder } from '../base/folders.ts';
import { asDiskFull, asFileFailure, Failure, messageOf } from '../contract/failure.ts';
import { runsFolder, trashFolder } from '../run-directory/names.ts';
import { databaseFile, lockFile } from './files.ts';
import { migrate, refuseUnsupported, versionOf } from './migrations.ts';
import { refuseUnreadable, whyReadOnly } from './write-access.ts';

export type HistoryDatabase = Database.Database;

/** Returns whether a folder is a data folder. A process that locks one leaves its lock file there. */
export const isDataFolder = (folder: string) => existsSync(lockFile(folder)) || existsSync(databaseFile(folder));

/**
 * Locks a data folder for this process until it is released; the process is then the folder's host. The operating system releases the lock when the
 * process exits. Throws `data_folder_in_use`, `data_folder_read_only`, `data_folder_unusable` or `disk_full`.
 */
export function lockFolder(home: string): { release(): void } {
  return opening(home, () => {
    prepareFolder(home);
    const lock = takeLock(lockFile(home));
    return { release: () => void lock.close() };
  });
}

/** Creates the missing parts of a data folder, including the trash, because deleting must work on a full disk. */
function prepareFolder(home: string): void {
  refuseUnreadable(home);
  const readOnly = whyReadOnly(home);
  if (readOnly) throw readOnly;
  makeFolder(home);
  for (const folder of [runsFolder(home), trashFolder(home)]) ensureFolder(folder);
}

/** Opens a transaction on an empty database and never ends it, because Node can't lock files and SQLite can. */
function takeLock(file: string): HistoryDatabase {
  const lock = new Database(file, { timeout: 0 });
  try {
    // A journal file would need disk space.
    lock.pragma('journal_mode = MEMORY');
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
 * Throws `data_folder_in_use`, `data_folder_read_only`, `data_folder_unusable`, `disk_full`, `history_version_unsupported` or `history_outdated`.
 */
export function openDatabase(home: string): HistoryDatabase {
  return opening(home, () => {
    prepareFolder(home);
    return openWith(home, { timeout: 0 }, (database) => {
      refuseUnsupported(database);
      database.pragma('locking_mode = EXCLUSIVE');
      database.pragma('journal_mode = WAL');
      database.exec('BEGIN EXCLUSIVE; COMMIT');
      prepareWriter(database);
    });
  });
}

/** Opens the only connection that writes. The process must have locked the folder. Throws as {@link openDatabase} does. */
export function openWriter(home: string): HistoryDatabase {
  return opening(home, () =>
    openWith(home, { timeout: 0 }, (database) => {
      refuseUnsupported(database);
      database.pragma('journal_mode = WAL');
      prepareWriter(database);
    }),
  );
}

/** Opens a read-only connection, which sees only committed transactions and never waits. Throws as {@link openDatabase} does. */
export function openReader(home: string): HistoryDatabase {
  return opening(home, () => openWith(home, { readonly: true, timeout: 0 }, (database) => void versionOf(database)));
}

function prepareWriter(database: HistoryDatabase): void {
  database.pragma('synchronous = NORMAL');
  // Ingesting many runs writes to all parts of the tables. A larger cache makes disk writes fewer and larger.
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
  if (meansInUse(error)) return folderInUse(home);
  const rejected = asFileFailure(error);
  return new Failure(
    'data_folder_unusable',
    `The data folder ${home} can't be used: ${rejected?.message ?? messageOf(error)}`,
    meansDamage(error)
      ? `Its run history is damaged but can be rebuilt from the run folders. Run \`starpo history rebuild\`, or delete ${databaseFile(home)} and its -wal and -shm files and start again.`
      : `${rejected?.hint ?? 'Check its permissions and free space.'} You can choose another data folder with --home or STARPO_HOME.`,
  );
}

export const folderInUse = (home: string) =>
  new Failure(
    'data_folder_in_use',
    `The data folder ${home} is in use by another StarPO Studio.`,
    'Quit it, or choose another data folder with --home or STARPO_HOME.',
  );

/** Returns whether SQLite reports that another process holds a lock. */
export function meansInUse(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}

/** Returns whether SQLite reports a file as corrupt. Other errors (permissions, a full disk) are not damage. */
export function meansDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(NOTADB|CORRUPT)/.test(code);
}
