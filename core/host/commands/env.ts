import { resolve } from 'node:path';
import { print } from '../output.ts';
import { type CommandOptions, withClient } from './with-client.ts';

export interface CommandFlags extends CommandOptions {
  directory?: string;
}

/** Confirms the command of an environment, so that runs may start it. */
export async function allowCommand(command: string, { home, directory = '.' }: CommandFlags): Promise<void> {
  const own = { command, directory: resolve(directory) };
  await withClient(home, (client) => client.call('commands.confirm', own));
  print(`runs may start this command\n  ${own.command}\n  in ${own.directory}`);
}
