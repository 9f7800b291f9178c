import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { evaluationName, noteText, procedures, runName, tagText } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { parseSettings, type Setting } from '../../run-config/settings.ts';
import { check } from '../commands/check.ts';
import { type OnCluster, submitQueue, submitStudy, trainOn } from '../commands/cluster.ts';
import { pauseRun, stopRun } from '../commands/control.ts';
import { allowCommand, checkEnvironment, playEnvironment } from '../commands/env.ts';
import { type EvaluateOptions, evaluate } from '../commands/evaluate.ts';
import { newRun, resolveFolders, type SourceFlags, sourceOf } from '../commands/new.ts';
import { listPresets } from '../commands/presets.ts';
import {
  addToQueue,
  listDevices,
  listQueue,
  moveInQueue,
  removeFromQueue,
  restoreDevice,
  runQueue,
  shareDevices,
} from '../commands/queue.ts';
import {
  cancelStudy,
  deleteStudy,
  listStudies,
  newStudy,
  showPapers,
  showStudy,
  startStudy,
} from '../commands/study.ts';
import { extend, resume, train } from '../commands/train.ts';
import type { CommandOptions } from '../commands/with-client.ts';
import { addClusterCommands, onCluster } from './cluster.ts';
import { helpCommandOf } from './help.ts';
import {
  checkedBy,
  command,
  eachCheckedBy,
  examples,
  json,
  jsonLines,
  loading,
  number,
  numberBy,
  option,
  repeatable,
  runNames,
} from './options.ts';

const evaluated = procedures['evaluations.start'].input.shape;

/** Options for the source of a new run and its changes. */
const source = [
  option('--from <run>', "copy another run's configuration; run@iteration forks it from that checkpoint"),
  option('--keep-optimizer', "keep the checkpoint's optimizer and critic instead of new ones"),
  option('--config <file>', 'read the configuration from a run.json file'),
  repeatable('--set <key=value>', 'set one key of run.json, for example rollout.groups=8; repeatable'),
  number('--seed <number>', 'random seed; same as --set seed=<number>', z.int().min(0)),
  option('--device <device>', 'auto, cpu, cuda or cuda:<number>; same as --set device=<device>'),
];

/** Options for the marks of a new run. */
const marks = [
  option('--name <name>', 'display name').argParser(checkedBy(runName)),
  option('--tag <tag>', 'tag; repeatable').argParser(eachCheckedBy(tagText)),
  option('--note <text>', 'note').argParser(checkedBy(noteText)),
];

interface NewRunFlags extends SourceFlags {
  home?: string;
  set?: string[];
  seed?: number;
  device?: string;
  json?: boolean;
  queue?: boolean;
  name?: string;
  tag?: string[];
  note?: string;
}

function newRunOf(preset: string | undefined, flags: NewRunFlags, command: Command) {
  const { home, json = false, queue = false, name, tag: tags, note } = flags;
  const marks = { name, tags, note };
  return { source: sourceOf(preset, flags, helpCommandOf(command)), set: settingsOf(flags), marks, home, json, queue };
}

/** Trains a run on this machine, or submits it to a cluster. */
function trainAnywhere(preset: string | undefined, flags: NewRunFlags & Partial<OnCluster>, command: Command) {
  const { on, yes = false } = flags;
  const { queue, ...run } = newRunOf(preset, flags, command);
  if (on === undefined) return train({ ...run, queue });
  if (!queue) return trainOn({ ...run, on, yes });
  throw new Failure('usage_invalid', 'Use either --queue or --on.', 'Remove one of the two options.');
}

/** Returns the changes of the options. Throws `usage_invalid` if --set contradicts --seed or --device. */
function settingsOf({ set = [], seed, device }: NewRunFlags): Record<string, Setting> {
  const settings: Record<string, Setting> = parseSettings(set);
  resolveFolders(settings);
  for (const [key, value] of Object.entries({ seed, device })) {
    if (value === undefined) continue;
    const earlier = settings[key];
    if (earlier !== undefined && String(earlier) !== String(value))
      throw new Failure(
        'usage_invalid',
        `--set ${key}=${earlier} contradicts --${key} ${value}.`,
        'Remove one of the two options.',
      );
    settings[key] = value;
  }
  return settings;
}

/** Adds the commands that create, train, control and evaluate runs, and those for the queue, clusters, sweeps, papers and environments. */
export function addTrainingCommands(root: Command): void {
  root.commandsGroup('Train:');
  examples(
    command(
      root,
      'train [preset]',
      'create a run, train it and stream progress until it finishes',
      [
        ...source,
        ...marks,
        jsonLines,
        option('--queue', 'queue the run until its device is free and return immediately'),
        ...onCluster,
      ],
      trainAnywhere,
    ),
    'train starter-frozen-lake',
    'train starter-bandit --set iterations=50 --set optimizer.learning_rate=3e-4 --seed 2',
    'train starter-sokoban --name "sokoban, long" --tag baseline',
    'train --from a16c@40 --keep-optimizer',
    'train --config run.json --device cuda:1 --queue',
    'train starter-sokoban --on slurm',
  );
  command(
    root,
    'resume',
    'start a new run, continue a paused one, or resume a stopped, failed or interrupted one from its last checkpoint, and stream progress until it finishes',
    [jsonLines],
    resume,
  ).argument('<run>', runNames);
  examples(
    command(root, 'extend', 'train a completed run for more iterations, as a new run', [jsonLines], extend)
      .argument('<run>', runNames)
      .argument(
        '<iterations>',
        'number of further iterations',
        numberBy(procedures['runs.trainMore'].input.shape.iterations),
      ),
    'extend a16c 100',
  );
  command(root, 'pause', 'pause a run after its current step; `starpo resume` resumes it', [], pauseRun).argument(
    '<run>',
    runNames,
  );
  command(root, 'stop', 'stop a run, save a checkpoint and wait until it has ended', [], stopRun).argument(
    '<run>',
    runNames,
  );
  examples(
    command(
      root,
      'evaluate',
      'evaluate a checkpoint on fixed levels, even while the run is training',
      [
        number('--checkpoint <iteration>', 'iteration of the checkpoint (default: newest)', evaluated.checkpoint),
        option('--on <environment>', "environment: one of the run's labels, an environment type or a preset"),
        repeatable('--set <key=value>', 'set one key of the environment, for example size=6; repeatable'),
        number('--levels <number>', "number of levels (default: the run's evaluation.levels)", z.int().min(1)),
        number(
          '--temperature <number>',
          "sampling temperature (default: the run's evaluation.temperature)",
          z.number(),
        ),
        number(
          '--top-p <number>',
          "total probability of the tokens to sample from, 0.01 to 1; 1 disables it (default: the run's rollout.top_p)",
          z.number().min(0.01).max(1),
        ),
        number(
          '--top-k <number>',
          "number of most likely tokens to sample from; 1 is greedy, 0 disables it (default: the run's rollout.top_k)",
          z.int().min(0),
        ),
        number(
          '--min-p <number>',
          "minimum probability of a token, as a fraction of the most likely token's, 0 to 1; 0 disables it (default: the run's rollout.min_p)",
          z.number().min(0).max(1),
        ),
        number('--seed <number>', "seed of the first level (default: the run's levels.validation_seed)", z.int()),
        option('--name <name>', 'name of the evaluation (default: checkpoint and label)').argParser(
          checkedBy(evaluationName),
        ),
        option('--json', 'print progress and result as JSON lines'),
      ],
      (run: string, { set = [], json = false, ...options }: EvaluateFlags) =>
        evaluate(run, { ...options, set: parseSettings(set), json }),
    ).argument('<run>', runNames),
    'evaluate a16c --levels 256',
    'evaluate a16c --on frozen-lake --set size=6 --top-k 1',
  );
  addQueueCommands(root);
  addClusterCommands(root);
  addSweepCommands(root);
  addReproduceCommand(root);
  addEnvironmentCommands(root);
  addWebShopCommands(root);
}

function addReproduceCommand(root: Command): void {
  examples(
    command(
      root,
      'reproduce <paper>',
      "run a paper's studies as sweeps, resume interrupted ones, and write a report; `ragen` is the only paper",
      [
        option('--quick', 'train most settings on 1/200 of the episodes: minutes on two cores'),
        repeatable('--only <study>', 'run one study, for example figure-7 or table-3; repeatable'),
        option('--model <model>', 'model whose presets to run: starter, qwen2.5-0.5b, ...').default('starter'),
        number(
          '--seeds <number>',
          'seeds per setting (default: 3 for figures 5, 7, 9 and 11 and table 1, else 1; with --quick 1)',
          z.int().min(1).max(100),
        ),
        option(
          '--device <device>',
          "auto, cpu, cuda or cuda:<number> (default: the presets' device, cpu for the starter)",
        ),
        option(
          '--out <folder>',
          'folder of report.md and report.html (default: ragen-report, with --quick ragen-report-quick)',
        ),
      ],
      loading(async () => (await import('../commands/reproduce.ts')).reproduce),
    ),
    'reproduce ragen --quick',
    'reproduce ragen --only figure-7 --only table-3',
  );
}

type EvaluateFlags = Omit<EvaluateOptions, 'set' | 'json'> & { set?: string[]; json?: boolean };

/** Adds the commands about configurations. */
export function addConfigurationCommands(root: Command): void {
  root.commandsGroup('Configure:');
  const others = option('--all', 'include presets of other algorithms');
  command(root, 'presets', 'list presets with their expected results and training time', [others, json], listPresets);
  command(
    root,
    'check [preset]',
    'validate a configuration and list settings that have no effect (dry run)',
    [...source, json],
    (...given: Parameters<typeof newRunOf>) => check(newRunOf(...given)),
  );
  command(
    root,
    'new [preset]',
    'create a run without starting it and print its folder',
    [...source, ...marks],
    (...given: Parameters<typeof newRunOf>) => newRun(newRunOf(...given)),
  );
  addImportCommand(root);
}

function addImportCommand(root: Command): void {
  examples(
    command(
      root,
      'import-ragen',
      'convert a configuration of RAGEN, verl-agent or TRL to run.json and print it with notes',
      [],
      loading(async () => (await import('../commands/import-ragen.ts')).importRagen),
    ).argument('<files...>', 'YAML or JSON files, and overrides such as trainer.total_training_steps=100'),
    'import-ragen config/_2_sokoban.yaml es_manager.train.env_groups=16 | jq .config > run.json',
    'import-ragen grpo.yaml max_steps=200 preset=starter-frozen-lake-grpo',
  );
}

function addQueueCommands(root: Command): void {
  const queue = root.command('queue').description('manage runs that wait for their device');
  command(queue, 'list', 'list queued runs, next first', [json], listQueue);
  command(
    queue,
    'run',
    'train queued runs on all free devices until the queue is empty',
    onCluster,
    (options: CommandOptions & Partial<OnCluster>) =>
      options.on === undefined ? runQueue(options) : submitQueue({ ...options, on: options.on }),
  );
  command(queue, 'add', 'add a run to the end of the queue', [], addToQueue).argument('<run>', runNames);
  command(queue, 'remove', 'remove a run from the queue without deleting it', [], removeFromQueue).argument(
    '<run>',
    runNames,
  );
  command(queue, 'move', 'move a run to another position', [], moveInQueue)
    .argument('<run>', runNames)
    .argument(
      '<position>',
      'position in the queue; 1 is next',
      numberBy(procedures['queue.move'].input.shape.position),
    );
  command(queue, 'devices', 'list devices and the runs on them', [json], listDevices);
  command(queue, 'restore <device>', 'return a device that was set aside after a failure', [], restoreDevice);
  command(queue, 'share', 'let runs share a GPU if their memory fits', [], shareDevices).addArgument(
    new Argument('<state>', 'whether runs may share a GPU').choices(['on', 'off']),
  );
}

/** Adds the commands about WebShop's catalogues. */
function addWebShopCommands(root: Command): void {
  const webshop = root.command('webshop').description('manage WebShop product catalogues');
  examples(
    command(
      webshop,
      'import <folder>',
      "check a folder with WebShop's files and build its search index",
      [json],
      loading(async () => (await import('../commands/webshop.ts')).importCatalogue),
    ),
    'webshop import ~/webshop/data',
  );
}

/** Adds the commands for the user's own environments. */
function addEnvironmentCommands(root: Command): void {
  const env = root.command('env').description('manage your own environments');
  const directory = option('--directory <folder>', 'folder in which the command runs (default: the current one)');
  examples(
    command(env, 'allow', 'let runs start a command', [directory], allowCommand).argument(
      '<command>',
      'shell command in quotes, as in run.json, or the address of an OpenEnv server',
    ),
    "env allow 'python3 countdown.py' --directory examples/environments",
  );
  const limit = number('--limit <seconds>', 'timeout per answer (default: 30)', z.number().min(0.1).max(3600));
  examples(
    command(
      env,
      'check',
      'check whether a program is a valid environment',
      [directory, limit, json],
      checkEnvironment,
    ).argument('<command>', 'shell command in quotes, which is executed, or the address of an OpenEnv server'),
    "env check 'node 2048.mjs' --directory examples/environments",
    'env check http://127.0.0.1:8000',
  );
  const seed = number('--seed <number>', 'seed of the first level (default: 10000)', z.int().min(0));
  command(
    env,
    'play',
    'play an environment in the terminal, one action per line',
    [directory, limit, seed],
    playEnvironment,
  ).argument('<command>', 'shell command in quotes, which is executed, or the address of an OpenEnv server');
}

function addSweepCommands(root: Command): void {
  const sweep = root.command('sweep').description('compare settings, each over several seeds');
  command(sweep, 'list', 'list sweeps', [json], listStudies);
  examples(
    command(
      sweep,
      'new [file]',
      'create a sweep from a JSON file (docs/formats/studies.md), or the sweeps of a study of the RAGEN paper; print the ids',
      [
        option('--study <study>', "the paper's study, for example figure-7; list them with `starpo sweep papers`"),
        option('--model <model>', 'with --study: starter, qwen2.5-0.5b, ...').default('starter'),
        option('--start', 'queue the runs immediately'),
      ],
      newStudy,
    ),
    'sweep new mine.json --start',
    'sweep new --study figure-7',
  );
  command(
    sweep,
    'papers [study]',
    "list the studies of the RAGEN paper, or show one with the paper's numbers",
    [option('--model <model>', 'starter, qwen2.5-0.5b, ...').default('starter'), json],
    showPapers,
  );
  command(sweep, 'show <sweep>', 'show the results for each setting', [json], showStudy);
  command(
    sweep,
    'start <sweep>',
    'queue every run that has not completed, including failed and stopped runs',
    onCluster,
    (study: string, options: CommandOptions & Partial<OnCluster>) =>
      options.on === undefined ? startStudy(study, options) : submitStudy(study, { ...options, on: options.on }),
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
