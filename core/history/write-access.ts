import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { Failure } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';
import { runsFolder } from '../run-directory/names.ts';
import { databaseFiles, lockFile } from './files.ts';

/** Code of the error for a data folder that can only be read. */
export const readOnlyCode = 'data_folder_read_only';

/**
 * Returns `data_folder_read_only` if this process can't write to an existing data folder or one of its files. Call it before SQLite opens a
 * file: otherwise, SQLite may create files that lock out the owner of the folder.
 */
export function whyReadOnly(home: string): Failure | null {
  const runs = runsFolder(home);
  const files = [lockFile(home), ...databaseFiles(home)];
  const path = [home, runs, ...files].find((each) => existsSync(each) && accessError(each) !== null);
  if (path === undefined || !existsSync(runs)) return null;
  const { code } = accessError(path) as NodeJS.ErrnoException;
  const reason = code === 'EACCES' ? ownerText(path) : fileReason({ code });
  return new Failure(
    readOnlyCode,
    `The data folder ${home} is read-only, because ${path} can't be written: ${reason}.`,
    'You can view its runs. To change it, get write access to its folder and files, or choose another data folder with --home or STARPO_HOME.',
  );
}

/** Throws `data_folder_unusable` if the runs of a data folder can't be listed, which would look like an empty folder. */
export function refuseUnreadable(home: string): void {
  const folders = [home, runsFolder(home)].filter((each) => existsSync(each));
  const file = folders.find((each) => !statSync(each).isDirectory());
  if (file !== undefined)
    throw new Failure(
      'data_folder_unusable',
      `The data folder ${home} can't be used, because ${file} is a file.`,
      'Choose another data folder with --home or STARPO_HOME.',
    );
  const path = folders.find((each) => accessError(each, constants.R_OK | constants.X_OK) !== null);
  if (path === undefined) return;
  throw new Failure(
    'data_folder_unusable',
    `The data folder ${home} can't be used, because ${path} can't be read: ${ownerText(path)}.`,
    'Get read access to the folder, or choose another data folder with --home or STARPO_HOME.',
  );
}

/** Returns whether this process can write to a file or folder. */
export const isWritable = (path: string) => accessError(path) === null;

function accessError(path: string, mode = constants.W_OK): unknown {
  try {
    accessSync(path, mode);
    return null;
  } catch (error) {
    return error;
  }
}

/** Returns `it belongs to alice`, or `permission denied` for our own files. */
function ownerText(path: string): string {
  const { uid } = statSync(path);
  return uid === process.getuid?.() ? 'permission denied' : `it belongs to ${userName(uid)}`;
}

function userName(uid: number): string {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n');
    const found = users.map((line) => line.split(':')).find(([, , id]) => id === String(uid));
    if (found?.[0]) return found[0];
  } catch {}
  return `user ${uid}`;
}
