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
import { newRun, resolveFolders, type SourceFlags, sourceOf } from './commands/new.ts';
import { pinCheckpoint } from './commands/pin.ts';
import { listPresets } from './commands/presets.ts';
import { addToQueue, listQueue, moveInQueue, removeFromQueue, runQueue } from './commands/queue.ts';
import { listRuns, showRun } from './commands/runs.ts';
import { serve } from './commands/serve.ts';
import { cancelStudy, deleteStudy, listStudies, newStudy, showStudy, startStudy } from './commands/study.ts';
import { resume, train } from './commands/train.ts';
import { reportFailure } from './output.ts';

/** The command line. Exit status: 0 on success, 2 for invalid input, 1 for any other failure. */

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

const option = (flags: string, description: string) => new Option(flags, description);
const whole = (flags: string, description: string) => option(flags, description).argParser(wholeNumber);
const repeatable = (flags: string, description: string) => option(flags, description).argParser(collect).default([]);

const home = option('--home <folder>', 'data folder (default: STARPO_HOME, else ~/.local/share/starpo-studio)');
const json = option('--json', 'print JSON');
const jsonLines = option('--json', 'print events as JSON lines');
/** Options for the source of a new run and its changes. */
const source = [
  option('--from <run>', "copy another run's configuration; run@iteration forks it from that checkpoint"),
  option('--keep-optimizer', "keep the checkpoint's optimizer and critic instead of new ones"),
  option('--config <file>', 'read the configuration from a run.json file'),
  repeatable('--set <key=value>', 'set one key of run.json, for example rollout.groups=8'),
  whole('--seed <number>', 'random seed; same as --set seed=<number>'),
  option('--device <device>', 'auto, cpu, cuda or cuda:<number>; same as --set device=<device>'),
];
const off = (description: string) => option('--off', description);

const runNames = 'run id, name, short id (such as a16c), or a prefix of an id';

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
  resolveFolders(settings);
  return { ...settings, ...(seed !== undefined && { seed }), ...(device !== undefined && { device }) };
}

/**
 * Adds a command that takes `--home`. `usage` is commander's syntax for the name and arguments; `list` is the default command of a group.
 * `action` receives the arguments, then the options.
 */
function command(
  parent: Command,
  usage: string,
  description: string,
  options: readonly Option[],
  action: (...args: never[]) => unknown,
): Command {
  const made = parent.command(usage, { isDefault: usage === 'list' }).description(description);
  for (const each of [...options, home]) made.addOption(each);
  return made.action(action as (...args: unknown[]) => void);
}

function program(): Command {
  const root = new Command('starpo')
    .description('Train LLM agents with multi-turn reinforcement learning and inspect their episodes.')
    .version(product.version)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  trainingCommands(root);
  queueCommands(root);
  sweepCommands(root);
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
      option('--port <number>', 'port; 0 picks a free one').argParser(portNumber).default(defaultPort),
      option('--tensorboard <folder>', 'write the metrics of running runs as TensorBoard events'),
    ],
    serve,
  );
  command(
    root,
    'train [preset]',
    'create a run, train it and stream progress until it finishes',
    [...source, jsonLines, option('--queue', 'queue the run until its device is free and return immediately')],
    (preset: string | undefined, flags: NewRunFlags) => train(newRunOf(preset, flags)),
  );
  command(
    root,
    'resume <run>',
    'resume a run from its last checkpoint and stream progress until it finishes',
    [jsonLines],
    resume,
  );
  command(
    root,
    'new [preset]',
    'create a run without starting it and print its folder',
    source,
    (preset: string | undefined, flags: NewRunFlags) => newRun(newRunOf(preset, flags)),
  );
  command(
    root,
    'check [preset]',
    'validate a configuration and list settings that have no effect (dry run)',
    [...source, json],
    (preset: string | undefined, flags: NewRunFlags) => check(newRunOf(preset, flags)),
  );
  const others = option('--all', 'include presets of other algorithms');
  command(root, 'presets', 'list presets with their expected results and training time', [others, json], listPresets);
}

function queueCommands(root: Command): void {
  const queue = root.command('queue').description('manage runs that wait for their device');
  command(queue, 'list', 'list queued runs, next first', [json], listQueue);
  command(queue, 'run', 'train queued runs one at a time until the queue is empty', [], runQueue);
  command(queue, 'add <run>', 'add a run to the end of the queue', [], addToQueue);
  command(queue, 'remove <run>', 'remove a run from the queue without deleting it', [], removeFromQueue);
  command(queue, 'move <run>', 'move a run to another position', [], moveInQueue).argument(
    '<position>',
    'position in the queue; 1 is next',
    wholeNumber,
  );
}

function sweepCommands(root: Command): void {
  const sweep = root.command('sweep').description('compare settings, each over several seeds');
  command(sweep, 'list', 'list sweeps', [json], listStudies);
  command(
    sweep,
    'new <file>',
    'create a sweep from a JSON file (docs/formats/studies.md) and print its id',
    [option('--start', 'queue its runs immediately')],
    newStudy,
  );
  command(sweep, 'show <sweep>', 'show the results for each setting', [json], showStudy);
  command(
    sweep,
    'start <sweep>',
    'queue every run that has not completed, including failed and stopped runs',
    [],
    startStudy,
  );
  command(sweep, 'cancel <sweep>', 'remove its runs from the queue and stop those that are running', [], cancelStudy);
  command(
    sweep,
    'delete <sweep>',
    'move a sweep to the trash and keep its runs',
    [option('--runs', 'also move its runs to the trash')],
    deleteStudy,
  );
}

function runCommands(root: Command): void {
  command(root, 'runs', 'list runs', [option('--all', 'include archived runs'), json], listRuns);
  command(root, 'show', 'show details of a run', [json], showRun).argument('<run>', runNames);
  command(
    root,
    'alerts <run>',
    "list a run's alerts, automatic actions and suggested fixes",
    [option('--take <advice>', 'apply a suggested fix by its id'), json],
    listAlerts,
  );
  command(
    root,
    'evaluate <run>',
    'evaluate a checkpoint on fixed levels, also while the run is training',
    [
      whole('--checkpoint <iteration>', 'iteration of the checkpoint (default: newest)'),
      option('--on <environment>', "environment: one of the run's labels, an environment type or a preset"),
      repeatable('--set <key=value>', 'set one key of the environment, for example size=6'),
      whole('--levels <number>', "number of levels (default: the run's evaluation.levels)"),
      option('--temperature <number>', "sampling temperature (default: the run's evaluation.temperature)").argParser(
        finiteNumber,
      ),
      whole('--seed <number>', "seed of the first level (default: the run's levels.validation_seed)"),
      option('--name <name>', 'name of the evaluation (default: checkpoint and label)'),
      option('--json', 'print progress and result as JSON lines'),
    ],
    (run: string, { set, json = false, ...options }: EvaluateFlags) =>
      evaluate(run, { ...options, set: parseSettings(set), json }),
  );
  command(
    root,
    'pin <run>',
    'pin a checkpoint, so that checkpoint.keep does not delete its optimizer state',
    [off('unpin the checkpoint')],
    pinCheckpoint,
  ).argument('<iteration>', 'iteration of the checkpoint', wholeNumber);
}

type EvaluateFlags = Omit<EvaluateOptions, 'set' | 'json'> & { set: string[]; json?: boolean };

function markCommands(root: Command): void {
  command(root, 'rename <run>', "set a run's display name", [], renameRun).argument(
    '[name]',
    'display name; omit it to restore the default',
  );
  const remove = option('--remove', 'remove the tags instead');
  command(root, 'tag <run> <tags...>', 'add tags to a run', [remove], tagRun);
  command(root, 'note <run>', "write or print a run's note", [], noteRun).argument(
    '[text]',
    'text of the note; an empty text removes it, none prints it',
  );
  command(root, 'star <run>', 'star a run', [off('remove the star')], starRun);
  command(root, 'archive <run>', 'hide a run from lists and keep its folder', [off('show the run again')], archiveRun);
}

function trashCommands(root: Command): void {
  command(root, 'delete <runs...>', 'move runs to the trash; they can be restored for seven days', [], deleteRuns);
  const trash = root.command('trash').description('manage deleted runs and sweeps');
  command(trash, 'list', 'list deleted runs and sweeps', [json], listTrash);
  command(trash, 'restore <names...>', 'restore runs or sweeps by id', [], restoreRuns);
  command(trash, 'empty', 'permanently delete everything in the trash', [], emptyTrash);
}

/** Commands that import into a data folder or export from it. */
function transferCommands(root: Command): void {
  command(root, 'adopt <folder>', 'copy an existing run folder into the data folder', [], adopt);
  command(
    root,
    'import-metrics <file>',
    "create a run from another trainer's metrics (CSV or JSON lines, one row per step)",
    [
      option('--from <trainer>', 'trainer whose metric names the file uses; csv means our own names')
        .choices(importSources)
        .makeOptionMandatory(),
      option('--name <name>', 'display name of the run (default: the file name)'),
      option('--run <run>', 'run to import if the file has columns for several'),
      json,
    ],
    importMetrics,
  );
  command(
    root,
    'export',
    'export a run or a sweep for other programs',
    [
      option('--as <format>', 'file format').choices(exportFormat.options).makeOptionMandatory(),
      option('--out <folder>', 'output folder (text formats default to stdout)'),
      whole('--checkpoint <iteration>', 'hugging-face: iteration of the checkpoint (default: newest)'),
      option('--live', 'tensorboard: keep writing until the run ends'),
    ],
    exportRun,
  ).argument('<run>', `${runNames}; or a sweep's id or name`);
  const bundle = root.command('bundle').description('exchange a run as one file');
  command(
    bundle,
    'export <run>',
    'pack a run into a zip file',
    [
      option('--checkpoints <which>', 'checkpoints to include').choices(['none', 'newest', 'all']).default('newest'),
      option('--episodes <which>', 'episodes to include').choices(['none', 'evaluations', 'all']).default('all'),
    ],
    exportBundle,
  ).argument('<file>', 'path of the new .zip file');
  command(bundle, 'import <file>', 'import a packed run and print its id', [], importBundle);
}

function machineCommands(root: Command): void {
  const history = root.command('history').description('manage the run history, the index over all runs');
  command(
    history,
    'rebuild',
    'rebuild the run history from the run folders; training and open apps are not interrupted',
    [json],
    rebuild,
  );
  command(
    root,
    'calibrate',
    'score the Echo Trap monitor and two other methods on labeled runs',
    [
      option('--fit', 'fit the thresholds to the runs (in `tuning`) first and save them in the data folder'),
      option('--cross-validate', 'also score the runs of each setting with thresholds fitted to the others'),
      option('--chart <file>', 'also write an SVG chart of every run and its alarms'),
      json,
    ],
    calibrate,
  ).argument(
    '[folder]',
    'folder of labeled runs, folder with `tuning` and `held-out`, or data folder (default: bundled runs)',
  );
  command(root, 'doctor', 'check the requirements of the app', [json], doctor);
  command(
    root,
    'diagnostics',
    'write a zip for a bug report: versions, checks and logs; no tokens or weights',
    [option('--out <file>', 'output file').default('starpo-diagnostics.zip')],
    diagnostics,
  );
}

/** Converts commander's errors to our format. */
function usageFailure(error: CommanderError): Failure {
  return new Failure(
    'usage_invalid',
    error.code === 'commander.help' ? 'No command was given.' : error.message.replace(/^error: /, ''),
    'Run `starpo --help` or `starpo <command> --help` to list commands and options.',
  );
}

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

program()
  .parseAsync()
  .catch((error) => {
    if (!(error instanceof CommanderError)) reportFailure(error);
    else if (error.exitCode !== 0) reportFailure(usageFailure(error));
  });
