import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileReason } from '../contract/file-errors.ts';

/** Returns why a new file can't be written, as the end of a sentence. */
export function writeReason(path: string, error: unknown): string {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return fileReason(error);
  // /proc and similar file systems report a missing file although the folder exists.
  return existsSync(dirname(resolve(path))) ? 'its folder does not accept new files' : 'its folder was not found';
}
