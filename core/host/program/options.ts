import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { commandName, pasteable } from '../../base/pasteable.ts';
import { issueInWords } from '../../contract/issue-words.ts';

/** Collects the values of a repeatable option. */
const collect = (value: string, previous: string[] = []) => [...previous, value];

/** Returns a parser that applies the rules of the API to an argument, so that an error names the argument. */
export const checkedBy =
  <T>(schema: z.ZodType<T>, parse: (text: string) => unknown = String) =>
  (text: string): T => {
    const checked = schema.safeParse(parse(text));
    if (checked.success) return checked.data;
    throw new InvalidArgumentError(`It ${issueInWords(checked.error.issues[0]!)}.`);
  };

/** Like {@link checkedBy}, for a number. */
export const numberBy = (schema: z.ZodType<number>) =>
  checkedBy(schema, (text) => (text.trim() === '' ? Number.NaN : Number(text)));

/** Like {@link checkedBy}, for an argument that takes several values. */
export const eachCheckedBy = <T>(schema: z.ZodType<T>) => {
  const parse = checkedBy(schema);
  return (text: string, previous: T[] = []): T[] => [...previous, parse(text)];
};

export const portNumber = numberBy(z.int().min(0).max(65_535));
export const option = (flags: string, description: string) => new Option(flags, pasteable(description));
/** An option with a number that the schema of the API accepts. */
export const number = (flags: string, description: string, schema: z.ZodType<number>) =>
  option(flags, description).argParser(numberBy(schema));
export const repeatable = (flags: string, description: string) => option(flags, description).argParser(collect);

const home = () =>
  option(
    '--home <folder>',
    'data folder (default: STARPO_HOME, else starpo-studio in XDG_DATA_HOME or ~/.local/share)',
  );
export const json = option('--json', 'print JSON');
export const jsonLines = option('--json', 'print events as JSON lines');
export const off = (description: string) => option('--off', description);

export const runNames = 'run id, name, short id (such as a16c), or a prefix of an id';

/**
 * Adds a command that takes `--home`. `usage` is commander's syntax for the name and arguments; `list` is the default command of a group.
 * `action` receives the arguments, then the options.
 */
export function command(
  parent: Command,
  usage: string,
  description: string,
  options: readonly Option[],
  action: (...args: never[]) => unknown,
): Command {
  const made = parent.command(usage, { isDefault: usage === 'list' }).description(pasteable(description));
  for (const each of [...options, home()]) made.addOption(each);
  return made.action(action as (...args: unknown[]) => void);
}

/** Returns an action that loads its module when it runs, so that the other commands start faster. */
export const loading =
  <Given extends unknown[]>(load: () => Promise<(...given: Given) => unknown>) =>
  async (...given: Given) =>
    (await load())(...given);

/** Adds examples, which work when pasted, to the help of a command. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  const shown = lines.map((line) => `  ${commandName()} ${line}`);
  return command.addHelpText('after', `\nExamples:\n${shown.join('\n')}`);
}
