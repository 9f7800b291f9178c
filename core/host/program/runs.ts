import type { Command } from 'commander';
import { pasteable } from '../../base/pasteable.ts';
import { noteText, procedures, runName, tagText } from '../../contract/contract.ts';
import { exportFormat } from '../../contract/exports.ts';
import { importSource } from '../../contract/imports.ts';
import { adopt } from '../commands/adopt.ts';
import { listAlerts } from '../commands/alerts.ts';
import { archiveRun, noteRun, starRun, tagRun } from '../commands/annotate.ts';
import { exportBundle } from '../commands/bundle.ts';
import { compareRuns } from '../commands/compare.ts';
import { importFiles } from '../commands/import.ts';
import { deleteRuns, emptyTrash, listTrash, renameRun, restoreRuns } from '../commands/library.ts';
import { printLog } from '../commands/logs.ts';
import { pinCheckpoint } from '../commands/pin.ts';
import { listRuns, showRun } from '../commands/runs.ts';
import {
  checkedBy,
  command,
  eachCheckedBy,
  examples,
  json,
  loading,
  number,
  numberBy,
  off,
  option,
  runNames,
} from './options.ts';

const { iteration } = procedures['checkpoints.pin'].input.shape;

/** Adds the commands that show runs. */
export function addViewCommands(root: Command): void {
  root.commandsGroup('Inspect:');
  command(root, 'runs', 'list runs', [option('--all', 'include archived runs'), json], listRuns);
  command(root, 'show', 'show details of a run', [json], showRun).argument('<run>', runNames);
  examples(
    command(
      root,
      'logs',
      "print a run's log",
      [option('-f, --follow', 'print new lines until the run ends'), option('--json', 'print log lines as JSON lines')],
      printLog,
    ).argument('<run>', runNames),
    'logs a16c --follow',
  );
  examples(
    command(root, 'compare', 'compare results and settings of runs', [json], compareRuns).argument(
      '<runs...>',
      `two or more runs: ${runNames}`,
    ),
    'compare a16c 2c73',
    'compare a16c 2c73 --json | jq .settings',
  );
  examples(
    command(
      root,
      'alerts',
      "list a run's alerts, automatic actions and suggested fixes",
      [option('--take <advice>', 'apply a suggested fix by its id'), json],
      listAlerts,
    ).argument('<run>', runNames),
    'alerts a16c',
  );
}

/** Adds the commands that mark and delete runs. */
export function addOrganizingCommands(root: Command): void {
  root.commandsGroup('Organize:');
  command(root, 'rename', "set a run's display name", [], renameRun)
    .argument('<run>', runNames)
    .argument('[name]', 'display name; omit it to restore the default', checkedBy(runName));
  examples(
    command(root, 'tag', 'add tags to a run', [option('--remove', 'remove the tags instead')], tagRun)
      .argument('<run>', runNames)
      .argument('<tags...>', 'tags', eachCheckedBy(tagText)),
    'tag a16c baseline "wide clip"',
  );
  command(root, 'note', "write or print a run's note", [], noteRun)
    .argument('<run>', runNames)
    .argument(
      '[text]',
      'text of the note; an empty text removes the note; omit it to print the note',
      checkedBy(noteText),
    );
  command(root, 'star', 'star a run', [off('remove the star')], starRun).argument('<run>', runNames);
  command(
    root,
    'archive',
    'hide a run from lists and keep its folder',
    [off('show the run again')],
    archiveRun,
  ).argument('<run>', runNames);
  command(
    root,
    'pin',
    'pin a checkpoint, so that checkpoint.keep does not delete its optimizer state',
    [off('unpin the checkpoint')],
    pinCheckpoint,
  )
    .argument('<run>', runNames)
    .argument('<iteration>', 'iteration of the checkpoint', numberBy(iteration));
  command(root, 'delete', 'move runs to the trash; they can be restored for seven days', [], deleteRuns).argument(
    '<runs...>',
    runNames,
  );
  const trash = root.command('trash').description('manage deleted runs and sweeps');
  command(trash, 'list', 'list deleted runs and sweeps', [json], listTrash);
  command(trash, 'restore <names...>', 'restore runs or sweeps by id', [], restoreRuns);
  command(trash, 'empty', 'permanently delete everything in the trash', [], emptyTrash);
}

/** Adds the commands that import into a data folder or export from it. */
export function addTransferCommands(root: Command): void {
  root.commandsGroup('Import and export:');
  examples(
    command(
      root,
      'export',
      'export a run or a sweep for other programs',
      [
        option('--as <format>', 'file format').choices(exportFormat.options).makeOptionMandatory(),
        option('--out <folder>', 'output folder (text formats default to stdout)'),
        number('--checkpoint <iteration>', 'hugging-face: iteration of the checkpoint (default: newest)', iteration),
        option('--live', 'tensorboard: keep writing until the run ends'),
      ],
      loading(async () => (await import('../commands/export.ts')).exportRun),
    ).argument('<run>', `${runNames}; or a sweep's id or name`),
    'export a16c --as csv > metrics.csv',
    'export a16c --as hugging-face --out model',
    'export a16c --as tensorboard --live --out logs',
  );
  const bundle = root.command('bundle').description(pasteable('pack a run as one file; `starpo import` reads it'));
  command(
    bundle,
    'export',
    'pack a run into a zip file',
    [
      option('--checkpoints <which>', 'checkpoints to include').choices(['none', 'newest', 'all']).default('newest'),
      option('--episodes <which>', 'episodes to include').choices(['none', 'evaluations', 'all']).default('all'),
    ],
    exportBundle,
  )
    .argument('<run>', runNames)
    .argument('<file>', 'path of the new .zip file');
  examples(
    command(
      root,
      'import <files...>',
      'import run bundles, and metrics from CSV, JSON, TensorBoard, W&B, MLflow or trainer logs',
      [
        option(
          '--from <trainer>',
          'trainer whose metric names the files use (default: detected from the files)',
        ).choices(importSource.options),
        option('--name <name>', 'display name of the run (default: its name in the file, else the file name)'),
        option('--run <run>', 'import only this run of the files'),
        option('--dry-run', 'print what would be imported'),
        json,
      ],
      importFiles,
    ),
    'import run.starpo.zip',
    'import metrics.jsonl --name "verl baseline"',
    'import mlruns --dry-run',
  );
  command(root, 'adopt <folder>', 'copy an existing run folder into the data folder', [], adopt);
}
