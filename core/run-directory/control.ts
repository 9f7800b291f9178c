import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from './names.ts';

export type Command = 'pause' | 'resume' | 'checkpoint' | 'stop';

/** Appends a command as one line by one write, and gives its id. A line that a killed writer left cut short is ended first. */
export function appendCommand(folder: string, command: Command, args: Record<string, unknown> = {}): string {
  const id = randomUUID();
  const line = `${JSON.stringify({ v: 1, id, time: Date.now(), command, args })}\n`;
  const file = openSync(join(folder, runFiles.control), 'a+');
  try {
    writeSync(file, endsInLine(file) ? line : `\n${line}`);
  } finally {
    closeSync(file);
  }
  return id;
}

function endsInLine(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
}
