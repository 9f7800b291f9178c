import { existsSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Failure } from '../contract/failure.ts';
import { namesIn } from '../run-directory/names.ts';
import { folderInUse, lockFolder, meansDamage, meansInUse } from './database.ts';
import { databaseFile, databaseFiles, lockFile } from './files.ts';
import { isFromBeforeRelease } from './migrations.ts';
import { isWritable } from './write-access.ts';

/**
 * Deletes the history if it is damaged, from before version 1.0 or not writable, so that it can be rebuilt. Returns whether it did.
 * Throws `history_in_use` if another process has the file open: it would keep writing to a deleted file.
 */
export function dropDamagedHistory(home: string): boolean {
  const file = databaseFile(home);
  if (dropForeign(home)) return true;
  const lock = existsSync(file) ? lockUnlessHosted(home) : null;
  if (!lock) return false;
  try {
    if (!isDamaged(file)) return false;
    drop(home);
    return true;
  } finally {
    lock.release();
  }
}

/** Returns null if the folder has a host, which would have reported any damage. */
function lockUnlessHosted(home: string): { release(): void } | null {
  try {
    return lockFolder(home);
  } catch (error) {
    if (error instanceof Failure && error.code === 'data_folder_in_use') return null;
    throw error;
  }
}

/**
 * Deletes a history with files that another user wrote and that this process can't write, if the data folder allows it.
 * Returns whether it did. Throws `history_in_use` or `data_folder_in_use`.
 */
function dropForeign(home: string): boolean {
  const files = [lockFile(home), ...databaseFiles(home)].filter((file) => existsSync(file));
  if (files.every(isWritable) || !isWritable(home)) return false;
  if (isLocked(lockFile(home))) throw folderInUse(home);
  drop(home);
  if (!isWritable(lockFile(home))) rmSync(lockFile(home), { force: true });
  return true;
}

/** Returns whether a process holds a lock file, without write access to it. */
function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  const lock = new Database(file, { readonly: true, timeout: 0 });
  try {
    lock.pragma('schema_version');
    return false;
  } catch (error) {
    return meansInUse(error);
  } finally {
    lock.close();
  }
}

/** Throws `history_in_use`. */
function drop(home: string): void {
  const file = databaseFile(home);
  const users = existsSync(file) ? usersOf(file) : [];
  if (users.length > 0) {
    throw new Failure(
      'history_in_use',
      `The run history ${file} must be rebuilt, but another StarPO Studio has it open (${users.length === 1 ? 'process' : 'processes'} ${users.join(', ')}).`,
      'Close the app and other commands on this data folder, then try again. Training continues.',
    );
  }
  for (const each of databaseFiles(home)) rmSync(each, { force: true });
}

function isDamaged(file: string): boolean {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { fileMustExist: true, timeout: 0 });
    return database.pragma('quick_check(1)', { simple: true }) !== 'ok' || isFromBeforeRelease(database);
  } catch (error) {
    return meansDamage(error);
  } finally {
    database?.close();
  }
}

/** Returns other processes of the same user that have a file open (Linux only). */
function usersOf(file: string): number[] {
  const target = realpathSync(file);
  return namesIn('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => namesIn(`/proc/${pid}/fd`).some((fd) => opened(join(`/proc/${pid}/fd`, fd)) === target));
}

function opened(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}
