import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';

/** Appends a JSON object as one line by one write, or throws where the disk has no room for all of it. A line that was left cut short is ended first. */
export function appendLine(path: string, value: object): void {
  const line = `${JSON.stringify(value)}\n`;
  const file = openSync(path, 'a+');
  try {
    writeFileSync(file, endsInLine(file) ? line : `\n${line}`);
  } finally {
    closeSync(file);
  }
}

function endsInLine(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
}
