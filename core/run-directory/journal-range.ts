import { statSync } from 'node:fs';
import { type JournalEvent, parseEvent } from './events.ts';
import { readTail } from './journal-tail.ts';

/** Bytes per read. A longer line needs several reads. */
const chunk = 1 << 16;

/** Returns a journal's valid events from one `seq` to another, inclusive. Finds the start by bisection, because `seq` increases along the file. */
export function readJournalRange(path: string, from: number, to: number): JournalEvent[] {
  const events: JournalEvent[] = [];
  for (let offset = startOf(path, from), more = true; more; ) {
    const tail = readTail(path, offset, chunk);
    for (const line of tail.lines) {
      const event = parseEvent(line);
      if (!event || event.seq < from) continue;
      if (event.seq > to) return events;
      events.push(event);
    }
    offset = tail.next;
    more = tail.more;
  }
  return events;
}

/** Returns a byte offset at or shortly before the line with a `seq`. */
function startOf(path: string, seq: number): number {
  let low = 0;
  let high = statSync(path).size;
  while (high - low > chunk) {
    const middle = low + Math.floor((high - low) / 2);
    // Skips the line that the middle is in.
    const { lines } = readTail(path, middle, chunk);
    const after = lines.slice(1).flatMap((line) => seqOf(line) ?? [])[0];
    if (after === undefined || after > seq) high = middle;
    else low = middle;
  }
  return low;
}

const seqOf = (line: string): number | null => parseEvent(line)?.seq ?? null;
