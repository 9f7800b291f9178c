import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import product from '../../package.json' with { type: 'json' };
import { exportFormat } from '../contract/exports.ts';
import { Failure } from '../contract/failure.ts';
import { importSources } from '../imports/metric-names.ts';
import { parseSettings, type Setting } from '../run-config/settings.ts';
import { defaultPort } from '../server/http.ts';
import { adopt } from './commands/adopt.ts';
import { listAlerts } from './commands/alerts.ts';
import { archiveRun, noteRun, starRun, tagRun } from './commands/annotate.ts';
import { type BundleFlags, exportBundle, importBundle } from './commands/bundle.ts';
import { calibrate } from './commands/calibrate.ts';
import { check } from './commands/check.ts';
import { diagnostics } from './commands/diagnostics.ts';
import { doctor } from './commands/doctor.ts';
import { type EvaluateOptions, evaluate } from './commands/evaluate.ts';
import { exportRun } from './commands/export.ts';
import { rebuild } from './commands/history.ts';
import { importMetrics } from './commands/import-metrics.ts';
import { deleteRuns, emptyTrash, listTrash, renameRun, restoreRuns } from './commands/library.ts';
import { newRun, type SourceFlags, sourceOf } from './commands/new.ts';
import { pinCheckpoint } from './commands/pin.ts';
import { listPresets } from './commands/presets.ts';
import { addToQueue, listQueue, moveInQueue, removeFromQueue, runQueue } from './commands/queue.ts';
import { listRuns, showRun } from './commands/runs.ts';
import { serve } from './commands/serve.ts';
import { cancelStudy, deleteStudy, listStudies, newStudy, showStudy, startStudy } from './commands/study.ts';
import { train } from './commands/train.ts';
import { reportFailure } from './output.ts';

/** The command line: exit status 0 only on success, 2 for input that can't be right, 1 otherwise. */

const collect = (value: string, previous: string[]) => [...previous, value];

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number(text);
}

function finiteNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('must be a number');
  return value;
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
const device = [
  '--device <device>',
  'auto, cpu, cuda or cuda:<number>; the same as --set device=<device>',
] as const;
const json = ['--json', 'print JSON'] as const;

const runArgument = 'its id or a beginning of it, its name, or the end of that alone, such as a16c';

const from = [
  '--from <run>',
  "another run's configuration, or with run@iteration a checkpoint of it to go on from",
] as const;
const keepOptimizer = [
  '--keep-optimizer',
  "go on with the checkpoint's optimiser and critic, not with new ones",
] as const;
const config = ['--config <file>', 'a whole run.json'] as const;

interface NewRunFlags extends SourceFlags {
  home?: string;
  set: string[];
  seed?: number;
  device?: string;
}

type EvaluateFlags = Omit<EvaluateOptions, 'set' | 'json'> & { set: string[]; json?: boolean };

interface TrainFlags {
  json?: boolean;
  queue?: boolean;
}

function settingsOf({
  set,
  seed,
  device,
}: Pick<NewRunFlags, 'set' | 'seed' | 'device'>): Record<string, Setting> {
  const settings: Record<string, Setting> = parseSettings(set);
  // A path is meant from where the person is; the core that reads it may be elsewhere.
  for (const key of ['start.model', 'kl.reference']) {
    const folder = settings[key];
    if (typeof folder === 'string' && folder !== '') settings[key] = resolve(folder);
  }
  return { ...settings, ...(seed !== undefined && { seed }), ...(device !== undefined && { device }) };
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
    .option('--tensorboard <folder>', 'write the metrics of every run for TensorBoard as they come')
    .option(...home)
    .action(serve);
  root
    .command('train')
    .description('make a run, train it and follow it to its end')
    .argument('[preset]')
    .option(...from)
    .option(...keepOptimizer)
    .option(...config)
    .option(...set)
    .option(...seed)
    .option(...device)
    .option('--json', 'print the events as JSON lines')
    .option('--queue', 'let it wait until its device is free, and follow nothing')
    .option(...home)
    .action((preset: string | undefined, { home, json, queue, ...flags }: NewRunFlags & TrainFlags) =>
      train({
        source: sourceOf(preset, flags),
        set: settingsOf(flags),
        home,
        json: json ?? false,
        queue: queue ?? false,
      }),
    );
  root
    .command('new')
    .description('make a run directory, print its path, start nothing')
    .argument('[preset]')
    .option(...from)
    .option(...keepOptimizer)
    .option(...config)
    .option(...set)
    .option(...seed)
    .option(...device)
    .option(...home)
    .action((preset: string | undefined, flags: NewRunFlags) =>
      newRun({ source: sourceOf(preset, flags), set: settingsOf(flags), home: flags.home }),
    );
  root
    .command('check')
    .description("say what is wrong with a configuration, and which of its settings can't act; make nothing")
    .argument('[preset]')
    .option(...from)
    .option(...keepOptimizer)
    .option(...config)
    .option(...set)
    .option(...seed)
    .option(...device)
    .option(...json)
    .option(...home)
    .action((preset: string | undefined, { json, ...flags }: NewRunFlags & { json?: boolean }) =>
      check({
        source: sourceOf(preset, flags),
        set: settingsOf(flags),
        home: flags.home,
        json: json ?? false,
      }),
    );
  root
    .command('presets')
    .description('list what can be trained: what it shows, and how long it takes')
    .option('--all', 'also with the other algorithms')
    .option(...json)
    .option(...home)
    .action(listPresets);
  root
    .command('runs')
    .description('list the runs')
    .option('--all', 'also those that are archived')
    .option(...json)
    .option(...home)
    .action(listRuns);
  root
    .command('show')
    .description('show one run')
    .argument('<run>', runArgument)
    .option(...json)
    .option(...home)
    .action(showRun);
  root
    .command('alerts')
    .description('list what was found wrong with a run, what was done, and what would help')
    .argument('<run>')
    .option('--take <advice>', 'do what is advised, by its id')
    .option(...json)
    .option(...home)
    .action(listAlerts);
  root
    .command('pin')
    .description("keep a checkpoint's optimiser state while its run trains on")
    .argument('<run>')
    .argument('<iteration>', 'of the checkpoint', wholeNumber)
    .option('--off', 'keep it no longer than checkpoint.keep says')
    .option(...home)
    .action(pinCheckpoint);
  queueCommands(root);
  studyCommands(root);
  markCommands(root);
  libraryCommands(root);
  root
    .command('adopt')
    .description('copy a run folder from elsewhere into the data folder')
    .argument('<folder>')
    .option(...home)
    .action(adopt);
  root
    .command('import-metrics')
    .description("make a run of another trainer's metrics: a CSV file, or JSON lines, of values by step")
    .argument('<file>')
    .addOption(
      new Option('--from <trainer>', 'whose names the metrics have; csv: our own')
        .choices(importSources)
        .makeOptionMandatory(),
    )
    .option('--name <name>', "what the run is called (else the file's name)")
    .option('--run <run>', 'which one, where the file has the columns of several')
    .option(...json)
    .option(...home)
    .action(importMetrics);
  root
    .command('evaluate')
    .description('play a checkpoint of a run on fixed levels, also while it trains')
    .argument('<run>')
    .option('--checkpoint <iteration>', 'iteration of the checkpoint (else the newest)', wholeNumber)
    .option('--on <environment>', "a label of the run's, an environment type, or a preset")
    .option('--set <key=value>', 'change one key of the environment, such as size=6', collect, [] as string[])
    .option('--levels <number>', "how many (else the run's evaluation.levels)", wholeNumber)
    .option('--temperature <number>', "of sampling (else the run's evaluation.temperature)", finiteNumber)
    .option('--seed <number>', "of the first level (else the run's levels.validation_seed)", wholeNumber)
    .option('--name <name>', 'of the result (else checkpoint and label)')
    .option('--json', 'print progress and result as JSON lines')
    .option(...home)
    .action((run: string, options: EvaluateFlags) =>
      evaluate(run, { ...options, set: parseSettings(options.set), json: options.json ?? false }),
    );
  root
    .command('export')
    .description('make files of a run, or of a study, for other programs')
    .argument('<run>', `${runArgument}; or a study's id`)
    .addOption(
      new Option('--as <format>', 'of the files').choices(exportFormat.options).makeOptionMandatory(),
    )
    .option('--out <folder>', 'where they go; without it one that is text is printed')
    .option('--checkpoint <iteration>', 'of hugging-face (else the newest)', wholeNumber)
    .option('--live', 'tensorboard: go on until the run has ended')
    .option(...home)
    .action(exportRun);
  root
    .command('history')
    .description('the index over all runs of a data folder')
    .command('rebuild')
    .description('make it again from the run folders; training and open apps go on meanwhile')
    .option(...json)
    .option(...home)
    .action(rebuild);
  root
    .command('calibrate')
    .description('how well the Echo Trap is foretold in labelled runs, by the monitor and by others')
    .argument('[folder]', 'of run directories, or with `tuning` and `held-out` (else those of the app)')
    .option('--fit', 'first search thresholds on `tuning`, and keep them in the data folder')
    .option('--chart <file>', 'also draw every run with its alarms, as SVG')
    .option(...json)
    .option(...home)
    .action(calibrate);
  root
    .command('doctor')
    .description('check what the app needs')
    .option(...json)
    .option(...home)
    .action(doctor);
  root
    .command('diagnostics')
    .description('make a zip for a report of a problem: versions, findings, logs; no token, no weights')
    .option('--out <file>', 'where it goes', 'starpo-diagnostics.zip')
    .option(...home)
    .action(diagnostics);
  return root;
}

function queueCommands(root: Command): void {
  const queue = root.command('queue').description('the runs that wait for their device');
  queue
    .command('list', { isDefault: true })
    .description('list what waits, next first')
    .option(...json)
    .option(...home)
    .action(listQueue);
  queue
    .command('run')
    .description('train what waits, one run after the other')
    .option(...home)
    .action(runQueue);
  const add = queue.command('add').description('put a run at the end');
  add
    .argument('<run>')
    .option(...home)
    .action(addToQueue);
  const remove = queue.command('remove').description('take a run out; it is not deleted');
  remove
    .argument('<run>')
    .option(...home)
    .action(removeFromQueue);
  queue
    .command('move')
    .description('give a run another place, 1 for the next')
    .argument('<run>')
    .argument('<position>', 'from 1 on', wholeNumber)
    .option(...home)
    .action(moveInQueue);
}

function studyCommands(root: Command): void {
  const study = root
    .command('study')
    .description('runs that differ in what is studied, by several seeds each');
  study
    .command('list', { isDefault: true })
    .description('list the studies')
    .option(...json)
    .option(...home)
    .action(listStudies);
  study
    .command('new')
    .description('make a study from a file (docs/formats/studies.md), and print its id')
    .argument('<file>')
    .option('--start', 'queue its runs at once')
    .option(...home)
    .action(newStudy);
  study
    .command('show')
    .description('show what its points have come to')
    .argument('<study>')
    .option(...json)
    .option(...home)
    .action(showStudy);
  study
    .command('start')
    .description('queue all of its runs that are not complete, failed and stopped ones too')
    .argument('<study>')
    .option(...home)
    .action(startStudy);
  study
    .command('cancel')
    .description('take its runs out of the queue, and stop those that are trained')
    .argument('<study>')
    .option(...home)
    .action(cancelStudy);
  study
    .command('delete')
    .description('move the study to the trash; its runs stay')
    .argument('<study>')
    .option('--runs', 'move its runs to the trash too')
    .option(...home)
    .action(deleteStudy);
}

function libraryCommands(root: Command): void {
  root
    .command('rename')
    .description('call a run otherwise; its id stays')
    .argument('<run>')
    .argument('[name]', 'without one it goes by its own again')
    .option(...home)
    .action(renameRun);
  root
    .command('delete')
    .description('move runs to the trash, from where they can be taken back for seven days')
    .argument('<runs...>')
    .option(...home)
    .action(deleteRuns);
  const trash = root.command('trash').description('deleted runs');
  trash
    .command('list', { isDefault: true })
    .description('list them')
    .option(...json)
    .option(...home)
    .action(listTrash);
  trash
    .command('restore')
    .description('take runs back')
    .argument('<runs...>')
    .option(...home)
    .action(restoreRuns);
  trash
    .command('empty')
    .description('delete all of them for good')
    .option(...home)
    .action(emptyTrash);
  const bundle = root.command('bundle').description('a run in one file');
  bundle
    .command('export')
    .description('pack a run')
    .argument('<run>')
    .argument('<file>', 'a .zip that is not there yet')
    .addOption(new Option('--checkpoints <which>').choices(['none', 'newest', 'all']).default('newest'))
    .addOption(new Option('--episodes <which>').choices(['none', 'evaluations', 'all']).default('all'))
    .option(...home)
    .action((run: string, file: string, flags: BundleFlags) => exportBundle(run, file, flags));
  bundle
    .command('import')
    .description('take in a run that was packed, and print its id')
    .argument('<file>')
    .option(...home)
    .action(importBundle);
}

function markCommands(root: Command): void {
  root
    .command('tag')
    .description('add tags to a run')
    .argument('<run>')
    .argument('<tags...>')
    .option('--remove', 'take them away instead')
    .option(...home)
    .action(tagRun);
  root
    .command('note')
    .description('write a note on a run, or print it')
    .argument('<run>')
    .argument('[text]', 'an empty one removes the note')
    .option(...home)
    .action(noteRun);
  root
    .command('star')
    .description('mark a run with a star')
    .argument('<run>')
    .option('--off', 'take the star away')
    .option(...home)
    .action(starRun);
  root
    .command('archive')
    .description('hide a run from the lists; its folder stays')
    .argument('<run>')
    .option('--off', 'show it again')
    .option(...home)
    .action(archiveRun);
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
