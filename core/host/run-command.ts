import { type Command, CommanderError } from 'commander';
import { Failure } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';
import { reportFailure } from './output.ts';
import { helpCommandOf, unknownCommand } from './program/help.ts';
import { createProgram } from './program/program.ts';

/** Returns the command that the arguments name. */
function namedCommand(root: Command, args: readonly string[]): Command {
  let command = root;
  for (const name of args) {
    const found = command.commands.find((each) => each.name() === name);
    if (!found) break;
    command = found;
  }
  return command;
}

/** Names the value first in commander's two wordings for an invalid value. */
function plainProblem(problem: string): string {
  return problem
    .replace(/^command-argument value ('.*?') is invalid for argument /s, 'the value $1 is invalid for argument ')
    .replace(/^option ('.*?') argument ('.*?') is invalid\. /s, 'the value $2 is invalid for option $1. ');
}

/** Converts commander's errors about a command to our format. */
function usageFailure(error: CommanderError, command: Command): Failure {
  const [, unknown] = /^error: unknown command '(.+?)'/.exec(error.message) ?? [];
  // `starpo queue lst` is an excess argument of the default command.
  const [, extra = unknown] = /^error: too many arguments for 'list'.*: (.+)\.$/.exec(error.message) ?? [];
  if (extra !== undefined && command.commands.length > 0) return unknownCommand(extra, command);
  const message = error.code === 'commander.help' ? 'No command was given.' : error.message.replace(/^error: /, '');
  const [, problem = message, close] = /^(.*?)\n\(Did you mean (.*)\?\)$/s.exec(message) ?? [];
  const isMissing = error.code === 'commander.missingMandatoryOptionValue';
  const missing = command.options.find(({ flags }) => isMissing && message.includes(`'${flags}'`));
  return new Failure(
    'usage_invalid',
    sentence(plainProblem(problem.replaceAll('\n', ' '))),
    [
      ...(close ? [`Did you mean ${close}?`] : []),
      ...(missing?.argChoices ? [`Allowed choices are ${missing.argChoices.join(', ')}.`] : []),
      `Run ${helpCommandOf(command)} to list ${command.commands.length > 0 ? 'commands' : 'arguments and options'}.`,
    ].join(' '),
  );
}

/** Runs a command of `starpo`, reports its failure and sets the exit code. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const root = createProgram();
  try {
    await root.parseAsync(args, { from: 'user' });
  } catch (error) {
    const json = args.includes('--json');
    if (!(error instanceof CommanderError)) reportFailure(error, { json });
    else if (error.exitCode !== 0) reportFailure(usageFailure(error, namedCommand(root, args)), { json });
  }
}
