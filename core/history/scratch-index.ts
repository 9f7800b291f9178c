import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { databaseFile, databaseFiles } from './files.ts';

/** A copy of the run history in a temporary folder, used if the data folder isn't writable. */
export interface ScratchIndex {
  folder: string;
  remove(): void;
}

/**
 * Copies the history of a data folder to a temporary folder, or to memory (/dev/shm) if the temporary folder's disk is full. A host may write to it during the copy: a damaged
 * copy is deleted, because the history follows from the run folders. Throws if no temporary folder is writable.
 */
export function copyToScratch(home: string): ScratchIndex {
  const places = [tmpdir(), '/dev/shm'].filter((place) => existsSync(place));
  for (const [index, place] of places.entries()) {
    try {
      return copyTo(place, home);
    } catch (error) {
      if (index === places.length - 1) throw error;
    }
  }
  throw new Error('no temporary folder exists');
}

function copyTo(place: string, home: string): ScratchIndex {
  const folder = mkdtempSync(join(place, 'starpo-history-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const file of databaseFiles(home).slice(0, 2)) {
      if (!existsSync(file)) continue;
      const copy = join(folder, basename(file));
      copyFileSync(file, copy);
      // The copy of a read-only file is read-only too.
      chmodSync(copy, 0o600);
    }
    if (existsSync(databaseFile(folder)) && isDamaged(folder))
      for (const file of databaseFiles(folder)) rmSync(file, { force: true });
    process.once('exit', remove);
    return {
      folder,
      remove: () => {
        process.off('exit', remove);
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function isDamaged(folder: string): boolean {
  let database: Database.Database | undefined;
  try {
    database = new Database(databaseFile(folder));
    return database.pragma('quick_check(1)', { simple: true }) !== 'ok';
  } catch {
    return true;
  } finally {
    database?.close();
  }
}
