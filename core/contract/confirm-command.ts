import type { Client } from './client.ts';
import type { OwnCommand } from './contract.ts';
import { Failure } from './failure.ts';

/** Returns a client that asks the user before the server runs a command for the first time, then repeats the request. */
export function confirmingCommands<C extends Pick<Client, 'call'>>(
  client: C,
  ask: (command: OwnCommand) => Promise<boolean>,
): C {
  const call: Client['call'] = async (name, input, taskId) => {
    for (;;) {
      try {
        return await client.call(name, input, taskId);
      } catch (error) {
        if (!(error instanceof Failure && error.unconfirmed && (await ask(error.unconfirmed)))) throw error;
        await client.call('commands.confirm', error.unconfirmed);
      }
    }
  };
  return { ...client, call };
}

/** Returns a string with control and format characters written as escapes, because they could hide a part of it. Keeps line breaks. */
export const visibleText = (text: string): string =>
  text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
