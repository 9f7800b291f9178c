import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** Bundles lie here between being brought and taken in. */
export const exchangeFolder = (home: string) => join(home, 'exchange');

/** One that was brought whole. */
export const broughtFile = (home: string, file: string) => join(exchangeFolder(home), `${file}.zip`);

/** One that is expected: a file as long as it is to be, with nothing in it. */
const expectedFile = (home: string, file: string) => join(exchangeFolder(home), `${file}.expected`);
/** One that is coming. */
const comingFile = (home: string, file: string) => join(exchangeFolder(home), `${file}.coming`);

/** Lets a bundle of so many bytes come, once. */
export async function expect(home: string, file: string, bytes: number): Promise<void> {
  await mkdir(exchangeFolder(home), { recursive: true });
  const handle = await open(expectedFile(home, file), 'wx', 0o600);
  try {
    await handle.truncate(bytes);
  } finally {
    await handle.close();
  }
}

/**
 * Receives an announced bundle as a stream. Returns the reason if the data does not match the announcement. The announcement may come from another
 * process; the two share only file names. Throws errors of the source or the disk and then leaves no file.
 */
export async function receive(
  home: string,
  file: string,
  bytes: number,
  source: Readable,
): Promise<'unknown' | 'length' | null> {
  const path = comingFile(home, file);
  try {
    await rename(expectedFile(home, file), path);
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
    await rename(path, broughtFile(home, file));
    return null;
  } finally {
    await rm(path, { force: true });
  }
}

/** Deletes a bundle, however much of it is there. */
export async function discard(home: string, file: string): Promise<void> {
  for (const path of [expectedFile(home, file), comingFile(home, file), broughtFile(home, file)])
    await rm(path, { force: true });
}
