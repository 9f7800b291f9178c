import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Creates folders and moves them, on any file system. */

/**
 * Creates a folder and its parents, one level at a time: Node's recursive mkdir never returns in file systems that reject new folders, such as
 * /proc. Use it only for a folder that the user names; {@link makeFolderIn} does not create the data folder again after it was moved.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let each = resolve(folder); !exists(each); each = dirname(each)) missing.push(each);
  for (const each of missing.reverse()) makeLevel(each);
  // Reports a file in place of the folder.
  if (missing.length === 0) makeLevel(folder);
}

/** Creates a folder at a path in an existing one, for example `makeFolderIn(home, 'models', 'org')`, and returns its path. */
export function makeFolderIn(existing: string, ...names: string[]): string {
  return names.reduce((parent, name) => {
    const folder = join(parent, name);
    makeLevel(folder);
    return folder;
  }, existing);
}

function makeLevel(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // An existing folder is reported as EEXIST, on some file systems as EROFS or EPERM.
    if (!isFolder(folder)) throw error;
  }
}

const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Moves a folder. Between disks, copies it under a temporary name first, so that a killed process leaves a complete folder at one of the places. Such a
 * copy keeps times and is named `.NAME.moving`.
 */
export async function moveFolder(from: string, to: string): Promise<void> {
  try {
    return await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
  }
  const partial = join(dirname(to), `.${basename(to)}.moving`);
  try {
    await rm(partial, { recursive: true, force: true });
    await cp(from, partial, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await rename(partial, to);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
  await rm(from, { recursive: true, force: true });
}
