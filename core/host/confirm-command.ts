import { createInterface } from 'node:readline/promises';
import type { Client } from '../contract/client.ts';
import type { OwnCommand } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { visibleText } from '../contract/visible-text.ts';

/** Returns a client that asks on a terminal before the server runs a command for the first time. */
export function confirmingCommands(client: Client, ask = askOnTerminal): Client {
  return {
    ...client,
    async call(name, input, taskId) {
      for (;;) {
        try {
          return await client.call(name, input, taskId);
        } catch (error) {
          if (!(error instanceof Failure && error.unconfirmed)) throw error;
          if (!(await ask(error.unconfirmed))) throw error;
          await client.call('commands.confirm', error.unconfirmed);
        }
      }
    },
  };
}

/** Returns false without a terminal. */
async function askOnTerminal({ command, directory }: OwnCommand): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const question = `An environment runs this command for the first time:\n  ${visibleText(command)}\n  in ${visibleText(directory)}\nRun it? [y/N] `;
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
