import { existsSync, mkdirSync, statSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Creates folders and moves them, on any file system. */

/**
 * Creates a folder and its parents, one level at a time: Node's recursive mkdir never returns in file systems that reject new folders, such as
 * /proc. Use {@link ensureFolder} inside the data folder: after the data folder was moved, nothing may create it again.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let each = resolve(folder); !existsSync(each); each = dirname(each)) missing.push(each);
  for (const each of missing.reverse()) ensureFolder(each);
  // Throws if the path is a file.
  if (missing.length === 0) ensureFolder(folder);
}

/** Creates a folder in an existing one, unless it exists. */
export function ensureFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // An existing folder is reported as EEXIST, on some file systems as EROFS or EPERM.
    if (!isFolder(folder)) throw error;
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Moves a folder. Between disks, copies it under a temporary name first, so that a killed process leaves a complete folder in the
 * old or the new location. The copy keeps timestamps; its temporary name is `.NAME.moving`.
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
