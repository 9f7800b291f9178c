import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { parseEvent } from '../run-directory/events.ts';
import type { HistoryDatabase } from './database.ts';
import { prepared } from './statements.ts';

/** Returns a string that changes when a directory is replaced by another of the same name. */
export function folderIdentity(folder: string): string {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.birthtimeMs}` : '';
}

/** Maximum bytes to read; a first event is far shorter. */
const firstLineLimit = 64 << 10;

/** Returns whether a journal starts with the run's first event in the history. True if either has no event. */
export function isSameJournal(database: HistoryDatabase, runId: string, journal: string): boolean {
  const stored = prepared<[string], { seq: number; time: number; type: string }>(
    database,
    'SELECT seq, time, type FROM events WHERE run = ? ORDER BY seq LIMIT 1',
  ).get(runId);
  const first = parseEvent(firstLine(journal));
  if (!stored || !first) return true;
  const type = first.type === 'unknown' ? first.name : first.type;
  return stored.seq === first.seq && stored.time === first.time && stored.type === type;
}

/** Returns an empty text if the file is missing or unreadable. */
function firstLine(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(firstLineLimit);
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, firstLineLimit, 0));
    return text.slice(0, Math.max(0, text.indexOf('\n')));
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
