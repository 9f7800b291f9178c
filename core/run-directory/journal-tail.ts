import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Complete lines of a journal from a byte offset. */
export interface Tail {
  lines: string[];
  /** The bytes of the lines. */
  bytes: Buffer;
  /** Size of the file, and its modification time in ms; null if it is missing. */
  size: number;
  modified: number | null;
  /** Byte offset after the last complete line. */
  next: number;
  /** Whether more complete lines may follow. */
  more: boolean;
  /** The file is shorter than `offset`, so it was replaced. */
  replaced: boolean;
}

const newline = 0x0a;
/** Maximum length of a line in bytes. Lines of trainers are far shorter, and a line is read into memory. */
const maxLine = 64 << 20;
const none = { lines: [], bytes: Buffer.alloc(0), more: false };

/**
 * Reads about `limit` bytes of complete lines from byte `offset`. A truncated last line is left for later; a line longer than `limit` is read
 * completely. A missing file is empty. Throws for a line above {@link maxLine}.
 */
export function readTail(path: string, offset: number, limit = 8 << 20): Tail {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { ...none, size: 0, modified: null, next: offset, replaced: offset > 0 };
  }
  try {
    const stat = fstatSync(file);
    // The size of a folder is arbitrary and may look like a replaced journal. Reading a folder throws the right error.
    if (stat.isDirectory()) readFully(file, 0, 1);
    const { size, mtimeMs: modified } = stat;
    if (size < offset) return { ...none, size, modified, next: offset, replaced: true };
    for (let span = Math.min(limit, size - offset); ; span = Math.min(span * 2, size - offset)) {
      if (span > maxLine) throw new Error(`${path} has a line of more than ${maxLine >> 20} MiB.`);
      const bytes = readFully(file, offset, span);
      const end = bytes.lastIndexOf(newline);
      if (end >= 0) {
        const lines = bytes.toString('utf8', 0, end).split('\n');
        const next = offset + end + 1;
        return {
          lines,
          bytes: bytes.subarray(0, end + 1),
          size,
          modified,
          next,
          more: offset + span < size,
          replaced: false,
        };
      }
      if (span >= size - offset) return { ...none, size, modified, next: offset, replaced: false };
    }
  } finally {
    closeSync(file);
  }
}

function readFully(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let total = 0;
  while (total < length) {
    const count = readSync(file, bytes, total, length - total, offset + total);
    if (count === 0) break;
    total += count;
  }
  return bytes.subarray(0, total);
}
