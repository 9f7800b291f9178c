import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { RunCommand } from '../contract/contract.ts';
import { appendLine } from './append-line.ts';
import { runFiles } from './names.ts';

export type Command = RunCommand['command'];

/** Appends a command to control.jsonl and returns its id. */
export function appendCommand(folder: string, command: Command, args: Record<string, unknown> = {}): string {
  const id = randomUUID();
  appendLine(join(folder, runFiles.control), { v: 1, id, time: Date.now(), command, args });
  return id;
}
