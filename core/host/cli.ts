import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import product from '../../package.json' with { type: 'json' };
import { Failure } from '../api/failure.ts';
import { parseSettings, type Setting } from '../run-config/settings.ts';
import { doctor } from './commands/doctor.ts';
import { rebuild } from './commands/history.ts';
import { newRun } from './commands/new.ts';
import { listRuns, showRun } from './commands/runs.ts';
import { serve } from './commands/serve.ts';
import { train } from './commands/train.ts';
import { defaultPort } from './http.ts';
import { reportFailure } from './output.ts';

/** The command line: exit status 0 only on success, 2 for input that can't be right, 1 otherwise. */

const collect = (value: string, previous: string[]) => [...previous, value];

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number(text);
}

function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port > 65535) throw new InvalidArgumentError('must be 0 to 65535');
  return port;
}

const home = [
  '--home <folder>',
  'data folder (else STARPO_HOME, else ~/.local/share/starpo-studio)',
] as const;
const set = [
  '--set <key=value>',
  'change one key of run.json, such as rollout.groups=8',
  collect,
  [] as string[],
] as const;
const seed = [
  '--seed <number>',
  'key of every random draw; the same as --set seed=<number>',
  wholeNumber,
] as const;
const json = ['--json', 'print JSON'] as const;

interface PresetOptions {
  home?: string;
  set: string[];
  seed?: number;
}

function settingsOf({ set, seed }: PresetOptions): Record<string, Setting> {
  const settings: Record<string, Setting> = parseSettings(set);
  const model = settings['start.model'];
  // A path is meant from where the person is; the core that reads it may be elsewhere.
  if (typeof model === 'string') settings['start.model'] = resolve(model);
  return { ...settings, ...(seed === undefined ? {} : { seed }) };
}

function program(): Command {
  const root = new Command('starpo')
    .description('Train LLM agents by multi-turn reinforcement learning and watch what they do.')
    .version(product.version)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });

  root
    .command('serve')
    .description('serve the app to a browser on this machine')
    .option('--port <number>', 'port, 0 for any free one', portNumber, defaultPort)
    .option(...home)
    .action(serve);
  root
    .command('train')
    .description('make a run from a preset, train it and follow it to its end')
    .argument('<preset>')
    .option(...set)
    .option(...seed)
    .option('--json', 'print the events as JSON lines')
    .option(...home)
    .action((preset: string, options: PresetOptions & { json?: boolean }) =>
      train({ preset, set: settingsOf(options), home: options.home, json: options.json ?? false }),
    );
  root
    .command('new')
    .description('make the run directory of a preset, print its path, start nothing')
    .argument('<preset>')
    .option(...set)
    .option(...seed)
    .option(...home)
    .action((preset: string, options: PresetOptions) =>
      newRun({ preset, set: settingsOf(options), home: options.home }),
    );
  root
    .command('runs')
    .description('list the runs')
    .option(...json)
    .option(...home)
    .action(listRuns);
  root
    .command('show')
    .description('show one run')
    .argument('<run>')
    .option(...json)
    .option(...home)
    .action(showRun);
  root
    .command('history')
    .description('the index over all runs of a data folder')
    .command('rebuild')
    .description('make it again from the run folders; training and open apps go on meanwhile')
    .option(...json)
    .option(...home)
    .action(rebuild);
  root
    .command('doctor')
    .description('check what the app needs')
    .option(...json)
    .option(...home)
    .action(doctor);
  return root;
}

/** commander's own complaints, in our form. */
function usageFailure(error: CommanderError): Failure {
  return new Failure(
    'usage_invalid',
    error.code === 'commander.help' ? 'No command was given.' : error.message.replace(/^error: /, ''),
    'Run `starpo --help`, or `starpo <command> --help`, for what there is.',
  );
}

// Whoever reads our output may have seen enough, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await program().parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) reportFailure(error);
  else if (error.exitCode !== 0) reportFailure(usageFailure(error));
}
