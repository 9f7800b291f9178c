import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ensureFolder } from '../base/folders.ts';

/** Returns the folder of uploads that are not imported yet. */
export const exchangeFolder = (home: string) => join(home, 'exchange');

/** Returns the path of a complete upload. */
export const uploadedFile = (home: string, file: string) => join(exchangeFolder(home), `${file}.upload`);

/** Returns the path of an announced upload: an empty file of the announced size. */
const announcedFile = (home: string, file: string) => join(exchangeFolder(home), `${file}.announced`);
/** Returns the path of an upload in progress. */
const partialFile = (home: string, file: string) => join(exchangeFolder(home), `${file}.partial`);

/** Allows one upload of the given size. */
export async function announce(home: string, file: string, bytes: number): Promise<void> {
  ensureFolder(exchangeFolder(home));
  const handle = await open(announcedFile(home, file), 'wx', 0o600);
  try {
    await handle.truncate(bytes);
  } finally {
    await handle.close();
  }
}

/**
 * Receives an announced upload as a stream. Returns the reason if the data does not match the announcement. The announcement may come from another
 * process; the two share only file names. Throws source and disk errors and then leaves no file.
 */
export async function receive(
  home: string,
  file: string,
  bytes: number,
  source: Readable,
): Promise<'unknown' | 'length' | null> {
  const path = partialFile(home, file);
  try {
    await rename(announcedFile(home, file), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'unknown';
    throw error;
  }
  try {
    const handle = await open(path, 'r+');
    try {
      if ((await handle.stat()).size !== bytes) return 'length';
      await handle.writeFile(source);
    } finally {
      await handle.close();
    }
    await rename(path, uploadedFile(home, file));
    return null;
  } finally {
    await rm(path, { force: true });
  }
}

/**
 * Writes a part of an announced upload, which is complete with the part that ends at the announced size. Returns the reason if it doesn't match
 * the announcement.
 */
export async function receivePart(
  home: string,
  file: string,
  offset: number,
  part: Uint8Array,
): Promise<'unknown' | 'length' | null> {
  const handle = await open(announcedFile(home, file), 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!handle) return 'unknown';
  const end = offset + part.length;
  try {
    const { size } = await handle.stat();
    if (end > size) return 'length';
    for (let done = 0; done < part.length; )
      done += (await handle.write(part, done, part.length - done, offset + done)).bytesWritten;
    if (end < size) return null;
  } finally {
    await handle.close();
  }
  await rename(announcedFile(home, file), uploadedFile(home, file));
  return null;
}

/** Deletes an upload in any state. */
export async function discard(home: string, file: string): Promise<void> {
  for (const path of [announcedFile(home, file), partialFile(home, file), uploadedFile(home, file)])
    await rm(path, { force: true });
}
