import { closeSync, constants, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { Failure } from '../contract/failure.ts';
import { named } from '../contract/file-errors.ts';

/** Appends a JSON object as one line in a single write, after terminating a truncated last line. Throws if the disk is full. */
export function appendLine(path: string, value: object): void {
  const line = `${JSON.stringify(value)}\n`;
  const file = openForAppending(path);
  try {
    writeFileSync(file, endsInLine(file) ? line : `\n${line}`);
  } catch (error) {
    throw named(error, path);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens or creates a file in a run directory. Throws `run_folder_invalid` for a symbolic link, which could redirect writes to any file of the user.
 */
export function openForAppending(path: string): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_RDWR } = constants;
  try {
    return openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR, 0o666);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error;
    throw new Failure(
      'run_folder_invalid',
      `${path} is a symbolic link, which is not allowed in a run folder.`,
      'Replace the link with a regular file.',
    );
  }
}

function endsInLine(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
}
