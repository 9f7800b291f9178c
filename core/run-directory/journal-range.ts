import { statSync } from 'node:fs';
import { type JournalEvent, parseEvent } from './events.ts';
import { readTail } from './journal-tail.ts';

/** Bytes read at once. A line that is longer costs another read. */
const chunk = 1 << 16;

/** Returns a journal's valid events from one `seq` to another, inclusive. Reads little else: `seq` grows along the file, so the start is found by bisection. */
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
    // The middle is within a line, which is left out.
    const { lines } = readTail(path, middle, chunk);
    const after = lines.slice(1).flatMap((line) => seqOf(line) ?? [])[0];
    if (after === undefined || after > seq) high = middle;
    else low = middle;
  }
  return low;
}

const seqOf = (line: string): number | null => parseEvent(line)?.seq ?? null;
