import { createInterface } from 'node:readline/promises';
import { visibleText } from '../contract/confirm-command.ts';
import type { OwnCommand } from '../contract/contract.ts';

/** Asks whether a command may run. Returns false without a terminal. */
export async function askOnTerminal({ command, directory }: OwnCommand): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const question = `This command has not been confirmed yet:\n  ${visibleText(command)}\n  in ${visibleText(directory)}\nRun it? [y/N] `;
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
