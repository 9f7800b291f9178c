import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { named } from '../contract/file-errors.ts';

/** Writes a value as JSON atomically: flushes a temporary file to disk, then renames it. */
export function writeWhole(path: string, value: unknown): void {
  const partial = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    const file = openSync(partial, 'w');
    try {
      writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw named(error, path);
  }
}
