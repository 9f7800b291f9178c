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
import { exportBundle, importBundle } from './commands/bundle.ts';
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
import { resume, train } from './commands/train.ts';
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

const option = (flags: string, about: string) => new Option(flags, about);
const several = (flags: string, about: string) => option(flags, about).argParser(collect).default([]);

const home = option('--home <folder>', 'data folder (else STARPO_HOME, else ~/.local/share/starpo-studio)');
const json = option('--json', 'print JSON');
const jsonLines = option('--json', 'print the events as JSON lines');
/** What a run is made from, and what is changed of that. */
const source = [
  option(
    '--from <run>',
    "another run's configuration, or with run@iteration a checkpoint of it to go on from",
  ),
  option('--keep-optimizer', "go on with the checkpoint's optimiser and critic, not with new ones"),
  option('--config <file>', 'a whole run.json'),
  several('--set <key=value>', 'change one key of run.json, such as rollout.groups=8'),
  option('--seed <number>', 'key of every random draw; the same as --set seed=<number>').argParser(
    wholeNumber,
  ),
  option('--device <device>', 'auto, cpu, cuda or cuda:<number>; the same as --set device=<device>'),
];
const off = (about: string) => option('--off', about);

const runNames = 'its id or a beginning of it, its name, or the end of that alone, such as a16c';

interface NewRunFlags extends SourceFlags {
  home?: string;
  set: string[];
  seed?: number;
  device?: string;
  json?: boolean;
  queue?: boolean;
}

function newRunOf(preset: string | undefined, flags: NewRunFlags) {
  const { home, json = false, queue = false } = flags;
  return { source: sourceOf(preset, flags), set: settingsOf(flags), home, json, queue };
}

function settingsOf({ set, seed, device }: NewRunFlags): Record<string, Setting> {
  const settings: Record<string, Setting> = parseSettings(set);
  // A path is meant from where the person is; the core that reads it may be elsewhere.
  for (const key of ['start.model', 'kl.reference']) {
    const folder = settings[key];
    if (typeof folder === 'string' && folder !== '') settings[key] = resolve(folder);
  }
  return { ...settings, ...(seed !== undefined && { seed }), ...(device !== undefined && { device }) };
}

/**
 * Adds a command of a data folder. `usage`: its name and arguments, as commander reads them; of a group of commands `list` is the one that goes without saying.
 * `action` gets the arguments and then the options.
 */
function command(
  parent: Command,
  usage: string,
  about: string,
  options: readonly Option[],
  action: (...args: never[]) => unknown,
): Command {
  const made = parent.command(usage, { isDefault: usage === 'list' }).description(about);
  for (const each of [...options, home]) made.addOption(each);
  return made.action(action as (...args: unknown[]) => void);
}

function program(): Command {
  const root = new Command('starpo')
    .description('Train LLM agents by multi-turn reinforcement learning and watch what they do.')
    .version(product.version)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  trainingCommands(root);
  queueCommands(root);
  studyCommands(root);
  runCommands(root);
  markCommands(root);
  trashCommands(root);
  transferCommands(root);
  machineCommands(root);
  return root;
}

function trainingCommands(root: Command): void {
  command(
    root,
    'serve',
    'serve the app to a browser on this machine',
    [
      option('--port <number>', 'port, 0 for any free one').argParser(portNumber).default(defaultPort),
      option('--tensorboard <folder>', 'write the metrics of every run for TensorBoard as they come'),
    ],
    serve,
  );
  command(
    root,
    'train [preset]',
    'make a run, train it and follow it to its end',
    [...source, jsonLines, option('--queue', 'let it wait until its device is free, and follow nothing')],
    (preset: string | undefined, flags: NewRunFlags) => train(newRunOf(preset, flags)),
  );
  command(
    root,
    'resume <run>',
    'train a run on from its last checkpoint, and follow it to its end',
    [jsonLines],
    resume,
  );
  command(
    root,
    'new [preset]',
    'make a run directory, print its path, start nothing',
    source,
    (preset: string | undefined, flags: NewRunFlags) => newRun(newRunOf(preset, flags)),
  );
  command(
    root,
    'check [preset]',
    "say what is wrong with a configuration, and which of its settings can't act; make nothing",
    [...source, json],
    (preset: string | undefined, flags: NewRunFlags) => check(newRunOf(preset, flags)),
  );
  const others = option('--all', 'also with the other algorithms');
  command(
    root,
    'presets',
    'list what can be trained: what it shows, and how long it takes',
    [others, json],
    listPresets,
  );
}

function queueCommands(root: Command): void {
  const queue = root.command('queue').description('the runs that wait for their device');
  command(queue, 'list', 'list what waits, next first', [json], listQueue);
  command(queue, 'run', 'train what waits, one run after the other', [], runQueue);
  command(queue, 'add <run>', 'put a run at the end', [], addToQueue);
  command(queue, 'remove <run>', 'take a run out; it is not deleted', [], removeFromQueue);
  command(queue, 'move <run>', 'give a run another place, 1 for the next', [], moveInQueue).argument(
    '<position>',
    'from 1 on',
    wholeNumber,
  );
}

function studyCommands(root: Command): void {
  const study = root
    .command('study')
    .description('runs that differ in what is studied, by several seeds each');
  command(study, 'list', 'list the studies', [json], listStudies);
  command(
    study,
    'new <file>',
    'make a study from a file (docs/formats/studies.md), and print its id',
    [option('--start', 'queue its runs at once')],
    newStudy,
  );
  command(study, 'show <study>', 'show what its points have come to', [json], showStudy);
  command(
    study,
    'start <study>',
    'queue all of its runs that are not complete, failed and stopped ones too',
    [],
    startStudy,
  );
  command(
    study,
    'cancel <study>',
    'take its runs out of the queue, and stop those that are trained',
    [],
    cancelStudy,
  );
  command(
    study,
    'delete <study>',
    'move the study to the trash; its runs stay',
    [option('--runs', 'move its runs to the trash too')],
    deleteStudy,
  );
}

function runCommands(root: Command): void {
  command(root, 'runs', 'list the runs', [option('--all', 'also those that are archived'), json], listRuns);
  command(root, 'show', 'show one run', [json], showRun).argument('<run>', runNames);
  command(
    root,
    'alerts <run>',
    'list what was found wrong with a run, what was done, and what would help',
    [option('--take <advice>', 'do what is advised, by its id'), json],
    listAlerts,
  );
  command(
    root,
    'evaluate <run>',
    'play a checkpoint of a run on fixed levels, also while it trains',
    [
      option('--checkpoint <iteration>', 'iteration of the checkpoint (else the newest)').argParser(
        wholeNumber,
      ),
      option('--on <environment>', "a label of the run's, an environment type, or a preset"),
      several('--set <key=value>', 'change one key of the environment, such as size=6'),
      option('--levels <number>', "how many (else the run's evaluation.levels)").argParser(wholeNumber),
      option('--temperature <number>', "of sampling (else the run's evaluation.temperature)").argParser(
        finiteNumber,
      ),
      option('--seed <number>', "of the first level (else the run's levels.validation_seed)").argParser(
        wholeNumber,
      ),
      option('--name <name>', 'of the result (else checkpoint and label)'),
      option('--json', 'print progress and result as JSON lines'),
    ],
    (run: string, { set, json = false, ...options }: EvaluateFlags) =>
      evaluate(run, { ...options, set: parseSettings(set), json }),
  );
  command(
    root,
    'pin <run>',
    "keep a checkpoint's optimiser state while its run trains on",
    [off('keep it no longer than checkpoint.keep says')],
    pinCheckpoint,
  ).argument('<iteration>', 'of the checkpoint', wholeNumber);
}

type EvaluateFlags = Omit<EvaluateOptions, 'set' | 'json'> & { set: string[]; json?: boolean };

function markCommands(root: Command): void {
  command(root, 'rename <run>', 'call a run otherwise; its id stays', [], renameRun).argument(
    '[name]',
    'without one it goes by its own again',
  );
  const remove = option('--remove', 'take them away instead');
  command(root, 'tag <run> <tags...>', 'add tags to a run', [remove], tagRun);
  command(root, 'note <run>', 'write a note on a run, or print it', [], noteRun).argument(
    '[text]',
    'an empty one removes the note',
  );
  command(root, 'star <run>', 'mark a run with a star', [off('take the star away')], starRun);
  command(
    root,
    'archive <run>',
    'hide a run from the lists; its folder stays',
    [off('show it again')],
    archiveRun,
  );
}

function trashCommands(root: Command): void {
  command(
    root,
    'delete <runs...>',
    'move runs to the trash, from where they can be taken back for seven days',
    [],
    deleteRuns,
  );
  const trash = root.command('trash').description('deleted runs and studies');
  command(trash, 'list', 'list them', [json], listTrash);
  command(trash, 'restore <names...>', 'take runs or studies back, by their ids', [], restoreRuns);
  command(trash, 'empty', 'delete all of them for good', [], emptyTrash);
}

/** What comes into a data folder, and what leaves it. */
function transferCommands(root: Command): void {
  command(root, 'adopt <folder>', 'copy a run folder from elsewhere into the data folder', [], adopt);
  command(
    root,
    'import-metrics <file>',
    "make a run of another trainer's metrics: a CSV file, or JSON lines, of values by step",
    [
      option('--from <trainer>', 'whose names the metrics have; csv: our own')
        .choices(importSources)
        .makeOptionMandatory(),
      option('--name <name>', "what the run is called (else the file's name)"),
      option('--run <run>', 'which one, where the file has the columns of several'),
      json,
    ],
    importMetrics,
  );
  command(
    root,
    'export',
    'make files of a run, or of a study, for other programs',
    [
      option('--as <format>', 'of the files').choices(exportFormat.options).makeOptionMandatory(),
      option('--out <folder>', 'where they go; without it one that is text is printed'),
      option('--checkpoint <iteration>', 'of hugging-face (else the newest)').argParser(wholeNumber),
      option('--live', 'tensorboard: go on until the run has ended'),
    ],
    exportRun,
  ).argument('<run>', `${runNames}; or a study's id or name`);
  const bundle = root.command('bundle').description('a run in one file');
  command(
    bundle,
    'export <run>',
    'pack a run',
    [
      option('--checkpoints <which>', 'to pack').choices(['none', 'newest', 'all']).default('newest'),
      option('--episodes <which>', 'to pack').choices(['none', 'evaluations', 'all']).default('all'),
    ],
    exportBundle,
  ).argument('<file>', 'a .zip that is not there yet');
  command(bundle, 'import <file>', 'take in a run that was packed, and print its id', [], importBundle);
}

function machineCommands(root: Command): void {
  const history = root.command('history').description('the index over all runs of a data folder');
  command(
    history,
    'rebuild',
    'make it again from the run folders; training and open apps go on meanwhile',
    [json],
    rebuild,
  );
  command(
    root,
    'calibrate',
    'how well the Echo Trap is foretold in labelled runs, by the monitor and by others',
    [
      option(
        '--fit',
        'first fit what signs count for to the runs (of `tuning`), and keep it in the data folder',
      ),
      option('--cross-validate', 'also judge the runs of each setting by points fitted to the others'),
      option('--chart <file>', 'also draw every run with its alarms, as SVG'),
      json,
    ],
    calibrate,
  ).argument(
    '[folder]',
    'of run directories, or with `tuning` and `held-out`, or a data folder (else those of the app)',
  );
  command(root, 'doctor', 'check what the app needs', [json], doctor);
  command(
    root,
    'diagnostics',
    'make a zip for a report of a problem: versions, findings, logs; no token, no weights',
    [option('--out <file>', 'where it goes').default('starpo-diagnostics.zip')],
    diagnostics,
  );
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

program()
  .parseAsync()
  .catch((error) => {
    if (!(error instanceof CommanderError)) reportFailure(error);
    else if (error.exitCode !== 0) reportFailure(usageFailure(error));
  });
