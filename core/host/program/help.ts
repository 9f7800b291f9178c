import type { Command } from 'commander';
import { pasteable } from '../../base/pasteable.ts';
import { Failure } from '../../contract/failure.ts';
import { nearest } from '../../run-config/nearest.ts';
import { exitCodes, print, table } from '../output.ts';
import { examples } from './options.ts';

const exitCodesTopic = 'exit-codes';

/** Adds the `help` command and the texts around the help of all commands. */
export function addHelp(root: Command): void {
  root.helpCommand(false);
  root
    .command('help [command...]')
    .description(pasteable(`show help for a command, or list the exit codes (\`starpo help ${exitCodesTopic}\`)`))
    .action((path: string[]) => showHelp(root, path));
  examples(root, 'train starter-frozen-lake', 'runs', 'logs a16c --follow', 'compare a16c 2c73');
  root.addHelpText(
    'after',
    pasteable(`\nRun \`starpo help COMMAND\` for details, and \`starpo help ${exitCodesTopic}\`.`),
  );
}

/** Throws `usage_invalid` for an unknown command. */
function showHelp(root: Command, path: readonly string[]): void {
  if (path[0] === exitCodesTopic) {
    print(table(exitCodes.map(({ code, meaning }) => [String(code), pasteable(meaning)])));
    print('\nErrors go to stderr. With --json, an error is one JSON object: code, message and hint.');
    return;
  }
  let shown = root;
  for (const name of path) {
    const found = shown.commands.find((each) => each.name() === name);
    if (!found) throw unknownCommand(name, shown, [...namesOf(shown), ...(shown === root ? [exitCodesTopic] : [])]);
    shown = found;
  }
  shown.outputHelp();
}

/** Returns `starpo queue move --help`, quoted, for the command that moves a queued run. */
export function helpCommandOf(command: Command): string {
  const names: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) names.unshift(each.name());
  return `\`${names.join(' ')} --help\``;
}

const namesOf = (group: Command) => group.commands.map((each) => each.name());

/** Returns the error for a name that is not a command of a group, with the command that was probably meant. */
export function unknownCommand(name: string, group: Command, names = namesOf(group)): Failure {
  const isElsewhere = group.parent !== null && namesOf(group.parent).includes(name);
  const close = isElsewhere ? `\`starpo ${name}\`` : nearest(name, names);
  return new Failure(
    'usage_invalid',
    `Unknown command "${name}".`,
    `${close ? `Did you mean ${close}? ` : ''}List commands with ${helpCommandOf(group)}.`,
  );
}
