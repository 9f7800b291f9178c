import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Hashes names and contents of files and folders.
 * @param {string} base @param {string[]} paths relative to base; missing ones are skipped
 * @param {(path: string) => boolean} [ignored]
 */
export function fingerprint(base, paths, ignored = () => false) {
  const hash = createHash('sha256');
  for (const path of paths.toSorted()) addPath(hash, base, path, ignored);
  return hash.digest('hex');
}

/** @param {import('node:crypto').Hash} hash @param {string} base @param {string} path @param {(path: string) => boolean} ignored */
function addPath(hash, base, path, ignored) {
  const full = join(base, path);
  if (ignored(path) || !existsSync(full)) return;
  if (statSync(full).isDirectory()) {
    for (const name of readdirSync(full).toSorted()) addPath(hash, base, `${path}/${name}`, ignored);
  } else {
    const content = readFileSync(full);
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
}

/** Stores the inputs of each step's last run. */
export class Stamps {
  /** @param {string} directory */
  constructor(directory) {
    this.directory = directory;
  }

  /** @param {string} step @param {string} inputs */
  matches(step, inputs) {
    const file = join(this.directory, step);
    return existsSync(file) && readFileSync(file, 'utf8') === inputs;
  }

  /** @param {string} step @param {string} inputs */
  write(step, inputs) {
    mkdirSync(dirname(join(this.directory, step)), { recursive: true });
    writeFileSync(join(this.directory, step), inputs);
  }
}
