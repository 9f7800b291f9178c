import { closeSync, constants, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { Failure } from '../contract/failure.ts';

/** Appends a JSON object as one line by one write, or throws where the disk has no room for all of it. A line that was left cut short is ended first. */
export function appendLine(path: string, value: object): void {
  const line = `${JSON.stringify(value)}\n`;
  const file = openForAppending(path);
  try {
    writeFileSync(file, endsInLine(file) ? line : `\n${line}`);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a file of a run directory, making it where there is none. Throws `run_folder_invalid` where a link has its name: through it, a run directory from
 * elsewhere could have any file of this person's written to.
 */
export function openForAppending(path: string): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_RDWR } = constants;
  try {
    return openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR, 0o666);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error;
    throw new Failure(
      'run_folder_invalid',
      `${path} is a link, which a run folder doesn't have.`,
      'Look at what it leads to, and put a file in its place.',
    );
  }
}

function endsInLine(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
}
