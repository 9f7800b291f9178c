import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { OwnCommand } from '../../contract/contract.ts';
import { asFailure } from '../../contract/failure.ts';
import { checkProgram } from '../../own-environments/checks.ts';
import { HandPlay } from '../../own-environments/hand-play.ts';
import { commandOf, EnvironmentProgram, requireFolder } from '../../own-environments/program.ts';
import { advise, print, table } from '../output.ts';
import { type CommandOptions, withClient } from './with-client.ts';

export interface CommandFlags extends CommandOptions {
  directory?: string;
  /** Seconds per answer. */
  limit?: number;
  seed?: number;
}

const defaultLimit = 30;

/** Throws `directory_missing`. */
function ownCommand(text: string, { directory: given = '.' }: CommandFlags): OwnCommand {
  const directory = resolve(given);
  requireFolder(directory);
  return { command: commandOf(text), directory };
}

/** Confirms the command of an environment, so that runs may start it. */
export async function allowCommand(command: string, flags: CommandFlags): Promise<void> {
  const own = ownCommand(command, flags);
  await withClient(flags.home, (client) => client.call('commands.confirm', own));
  print(
    own.command === command
      ? `runs may start this command\n  ${own.command}\n  in ${own.directory}`
      : `runs may connect to this OpenEnv server\n  ${command.trim()}`,
  );
}

/** Checks whether a program is a valid environment. The exit status is 1 if a check fails. */
export async function checkEnvironment(command: string, flags: CommandFlags): Promise<void> {
  const rows = await checkProgram(ownCommand(command, flags), flags.limit ?? defaultLimit, { onLog: showLog });
  const marks = { ok: 'ok', failed: 'FAILED', skipped: '-' };
  if (flags.json) print(JSON.stringify(rows, null, 2));
  else print(table(rows.map(({ check, verdict, reason }) => [marks[verdict], check, reason])));
  if (rows.some(({ verdict }) => verdict === 'failed')) process.exitCode = 1;
}

/** Plays episodes of a program by hand: one action per line, until the end of the input. */
export async function playEnvironment(command: string, flags: CommandFlags): Promise<void> {
  const program = new EnvironmentProgram(ownCommand(command, flags), flags.limit ?? defaultLimit, showLog);
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: process.stdin.isTTY });
  // Created before the first pause, because lines that arrive earlier are lost.
  const lines = terminal[Symbol.asyncIterator]();
  try {
    const hello = await program.hello();
    let seed = flags.seed ?? 10_000;
    const begin = async () => {
      const play = await HandPlay.begin(program, hello, seed);
      const { observation, actions } = play.state;
      const choice = actions ? `actions: ${actions.join(', ')}` : 'any text is an action';
      print(`${hello.name}, seed ${seed}\n${observation}\n${choice}`);
      return play;
    };
    let play = await begin();
    for await (const action of lines) {
      try {
        await play.act(action);
      } catch (error) {
        if (asFailure(error).code !== 'move_invalid') throw error;
        advise(`${asFailure(error).message} ${asFailure(error).hint}`);
        continue;
      }
      const { observation, frames, done, success } = play.state;
      print(`${observation}\nreward ${frames.at(-1)!.reward}`);
      if (!done) continue;
      print(success ? 'the episode succeeded' : 'the episode ended without success');
      seed += 1;
      play = await begin();
    }
  } finally {
    terminal.close();
    program.kill();
  }
}

const showLog = (text: string) => void process.stderr.write(text);
