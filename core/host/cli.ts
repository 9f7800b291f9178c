import { CommanderError } from 'commander';
import { Failure } from '../contract/failure.ts';
import { reportFailure } from './output.ts';
import { unknownCommand } from './program/help.ts';
import { createProgram } from './program/program.ts';

/** The command line. `starpo help exit-codes` lists its exit codes. */

/** Converts commander's errors to our format. */
function usageFailure(error: CommanderError): Failure {
  // `starpo queue lst` is an excess argument of the default command.
  const extra = /^error: too many arguments for 'list'.*: (.+)\.$/.exec(error.message)?.[1];
  if (extra !== undefined) return unknownCommand(extra);
  const message = error.code === 'commander.help' ? 'No command was given.' : error.message.replace(/^error: /, '');
  const [, problem = message, close] = /^(.*?)\n\(Did you mean (.*)\?\)$/s.exec(message) ?? [];
  return new Failure(
    'usage_invalid',
    problem.replaceAll('\n', ' '),
    `${close ? `Did you mean ${close}? ` : ''}Run \`starpo --help\` or \`starpo COMMAND --help\` to list commands and options.`,
  );
}

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

createProgram()
  .parseAsync()
  .catch((error) => {
    if (!(error instanceof CommanderError)) reportFailure(error);
    else if (error.exitCode !== 0) reportFailure(usageFailure(error));
  });
