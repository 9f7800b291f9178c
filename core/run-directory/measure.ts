import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunStorage } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { bytes } from '../contract/numbers.ts';
import { runFiles } from './names.ts';

export type RunSizes = Pick<RunStorage, 'rollouts' | 'checkpoints' | 'journal' | 'other' | 'total'> & {
  /** Number of episode files, without indexes. */
  rolloutFiles: number;
  /** Bytes of the largest checkpoint. */
  largestCheckpoint: number;
};

/** Returns the bytes of a run directory by purpose. Files that are deleted during the measurement count as 0. */
export async function measureRun(folder: string): Promise<RunSizes> {
  const rollouts = join(folder, runFiles.rollouts);
  const checkpoints = join(folder, runFiles.checkpoints);
  const [total, rolloutBytes, journal, each, names] = await Promise.all([
    folderBytes(folder),
    folderBytes(rollouts),
    fileBytes(join(folder, runFiles.journal)),
    list(checkpoints).then((entries) => Promise.all(entries.map(({ name }) => folderBytes(join(checkpoints, name))))),
    list(rollouts),
  ]);
  const checkpointBytes = each.reduce((sum, bytes) => sum + bytes, 0);
  return {
    rollouts: rolloutBytes,
    checkpoints: checkpointBytes,
    journal,
    other: Math.max(0, total - rolloutBytes - checkpointBytes - journal),
    total,
    rolloutFiles: names.filter(({ name }) => name.endsWith('.zst')).length,
    largestCheckpoint: Math.max(0, ...each),
  };
}

export async function folderBytes(folder: string): Promise<number> {
  const entries = await list(folder);
  const sizes = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return folderBytes(path);
      return entry.isFile() ? fileBytes(path) : 0;
    }),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** Returns the size of a file; 0 if it is missing or not a file. */
export async function fileBytes(path: string): Promise<number> {
  const file = await stat(path).catch(() => null);
  return file?.isFile() ? file.size : 0;
}

/** Returns the total size of files. */
export async function filesBytes(paths: readonly string[]): Promise<number> {
  const sizes = await Promise.all(paths.map(fileBytes));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** Returns the free bytes on a folder's disk. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function list(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

export const diskSpaceLow = (what: 'file' | 'run', needed: number, free: number) =>
  new Failure(
    'disk_space_low',
    `The ${what} needs ${bytes(needed)}, but the disk has ${bytes(free)} free.`,
    'Free disk space, then try again.',
  );
