import { closeSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Tail } from '../run-directory/journal-tail.ts';
import type { HistoryDatabase } from './database.ts';
import { prepared } from './statements.ts';

/** Detects journals whose ingested part was edited. Trainers only append. */

interface Ingested {
  checksum: number;
  /** Modification time of the file in ms, if all of it is ingested. */
  modified: number | null;
}

const chunk = 1 << 20;

/** Records that the lines of `tail` are ingested after those before `offset`. */
export function recordIngested(database: HistoryDatabase, runId: string, offset: number, tail: Tail): void {
  const before = offset === 0 ? { checksum: 0 } : ingestedPart(database, runId);
  // A history of the first release has no checksum of the earlier lines.
  if (!before) return;
  const modified = tail.next === tail.size ? tail.modified : null;
  store(database, runId, { checksum: crc32(tail.bytes, before.checksum), modified });
}

/** Returns whether the first `offset` bytes of a journal are not those that were ingested. `tail`: the lines after them. */
export function wasEdited(
  database: HistoryDatabase,
  runId: string,
  journal: string,
  offset: number,
  tail: Tail,
): boolean {
  if (offset === 0 || tail.modified === null) return false;
  if (tail.size > offset) return read(journal, offset - 1, offset).toString() !== '\n';
  const stored = ingestedPart(database, runId);
  if (stored?.modified === tail.modified) return false;
  const checksum = checksumOf(journal, offset);
  if (stored && stored.checksum !== checksum) return true;
  // Something other than an edit, such as a copy, changed the time.
  store(database, runId, { checksum, modified: tail.modified });
  return false;
}

const ingestedPart = (database: HistoryDatabase, runId: string): Ingested | undefined =>
  prepared<[string], Ingested>(database, 'SELECT checksum, modified FROM journals WHERE run = ?').get(runId);

function store(database: HistoryDatabase, runId: string, { checksum, modified }: Ingested): void {
  prepared(database, 'INSERT OR REPLACE INTO journals (run, checksum, modified) VALUES (?, ?, ?)').run(
    runId,
    checksum,
    modified,
  );
}

function checksumOf(path: string, end: number): number {
  let checksum = 0;
  for (let start = 0; start < end; start += chunk)
    checksum = crc32(read(path, start, Math.min(start + chunk, end)), checksum);
  return checksum;
}

function read(path: string, start: number, end: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(end - start);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
  } finally {
    closeSync(file);
  }
}
