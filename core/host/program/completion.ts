import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, type Command, type Option } from 'commander';
import { dataFolder } from '../../base/home.ts';
import { shortId } from '../../contract/run-names.ts';
import { baseConfig } from '../../presets/base.ts';
import { presets } from '../../presets/presets.ts';
import { keyPaths } from '../../run-config/tree.ts';
import { print } from '../output.ts';
import { completionScripts, type Shell } from './completion-scripts.ts';

/** Adds `completion`, which prints a shell's script, and the hidden command that the scripts call. */
export function addCompletion(root: Command): void {
  const shells = Object.keys(completionScripts);
  root
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(shells))
    .addHelpText(
      'after',
      `\nSetup:\n${Object.values(completionScripts)
        .map(({ setup }) => `  ${setup}`)
        .join('\n')}`,
    )
    .action((shell: Shell) => print(completionScripts[shell].script));
  root
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action((words: string[]) => {
      for (const { value, description } of completionsOf(root, words)) print(`${value}\t${description}`);
    });
}

export interface Completion {
  value: string;
  description: string;
}

/** Returns the completions of the last word; empty for files. `words` are the words after `starpo`, up to the cursor. */
export function completionsOf(root: Command, words: readonly string[]): Completion[] {
  const typed = words.slice(0, -1);
  const word = words.at(-1) ?? '';
  let command = root;
  let home: string | undefined;
  let pending: Option | undefined;
  let given = 0;
  for (const each of typed) {
    if (pending) {
      if (pending.long === '--home') home = each;
      pending = undefined;
    } else if (each.startsWith('-')) {
      const option = command.options.find(({ long, short }) => each === long || each === short);
      if (option?.required) pending = option;
    } else {
      const sub = given === 0 ? command.commands.find((candidate) => candidate.name() === each) : undefined;
      if (sub) command = sub;
      else given++;
    }
  }
  const data = new CompletionData(home);
  const all = pending
    ? valuesOf(pending, command, data, word)
    : word.startsWith('-')
      ? command
          .createHelp()
          .visibleOptions(command)
          .map(({ long, description }) => ({ value: long!, description }))
      : [...(given === 0 ? subcommandsOf(command) : []), ...argumentsAt(command, given, root, data, word)];
  return all.filter(({ value }) => value.startsWith(word));
}

const subcommandsOf = (command: Command): Completion[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ value: each.name(), description: each.description() }));

const plain = (values: readonly string[]): Completion[] => values.map((value) => ({ value, description: '' }));

function valuesOf({ long, argChoices }: Option, command: Command, data: CompletionData, word: string): Completion[] {
  if (argChoices) return plain(argChoices);
  if (long === '--from') return data.runs(word);
  if (long === '--device') return plain(['auto', 'cpu', 'cuda']);
  if (long === '--set' && command.name() !== 'evaluate')
    return plain(keyPaths({ ...baseConfig }).map((key) => `${key}=`));
  return [];
}

/** Completes an argument by its name. */
function argumentsAt(command: Command, index: number, root: Command, data: CompletionData, word: string): Completion[] {
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument: Argument | undefined = registeredArguments[index] ?? (last?.variadic ? last : undefined);
  if (!argument) return [];
  if (argument.argChoices) return plain(argument.argChoices);
  switch (argument.name()) {
    case 'run':
    case 'runs':
      return data.runs(word);
    case 'sweep':
      return data.sweeps();
    case 'preset':
      return presetNames();
    case 'command':
      return subcommandsOf(root);
    default:
      return [];
  }
}

const presetNames = (): Completion[] =>
  presets.filter(({ hidden }) => !hidden).map(({ id, alias, title }) => ({ value: alias ?? id, description: title }));

/** The names in a data folder, read without opening the run history. */
class CompletionData {
  private readonly folder: string;

  constructor(home: string | undefined) {
    this.folder = dataFolder(home);
  }

  /** Returns the ids that start with the word, or else the short ids. */
  runs(word: string): Completion[] {
    const ids = this.names('runs');
    const whole = ids.filter((id) => id.startsWith(word));
    return whole.length > 0 ? plain(whole) : ids.map((id) => ({ value: shortId(id), description: id }));
  }

  sweeps(): Completion[] {
    return plain(
      this.names('studies').flatMap((name) => (name.endsWith('.json') ? name.slice(0, -'.json'.length) : [])),
    );
  }

  private names(folder: string): string[] {
    try {
      return readdirSync(join(this.folder, folder)).filter((name) => !name.startsWith('.'));
    } catch {
      return [];
    }
  }
}
