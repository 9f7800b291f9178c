import { styleText } from 'node:util';
import { Command } from 'commander';
import product from '../../../package.json' with { type: 'json' };
import { defaultPort } from '../../server/address.ts';
import { diagnostics } from '../commands/diagnostics.ts';
import { doctor } from '../commands/doctor.ts';
import { openApp } from '../commands/open.ts';
import { addCompletion } from './completion.ts';
import { addHelp } from './help.ts';
import { command, examples, json, loading, option, portNumber, runNames } from './options.ts';
import { addOrganizingCommands, addTransferCommands, addViewCommands } from './runs.ts';
import { addConfigurationCommands, addTrainingCommands } from './training.ts';

/** Returns the definition of the command line. */
export function createProgram(): Command {
  const root = new Command('starpo')
    .description('Train LLM agents with multi-turn reinforcement learning and inspect their episodes.')
    .version(product.version)
    .exitOverride()
    // commander removes styles outside a terminal.
    .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .configureOutput({ writeErr: () => {} });
  addTrainingCommands(root);
  addConfigurationCommands(root);
  addViewCommands(root);
  addOrganizingCommands(root);
  addTransferCommands(root);
  addAppCommands(root);
  addCompletion(root);
  addHelp(root);
  return root;
}

/** Adds the commands about the app and the machine. */
function addAppCommands(root: Command): void {
  root.commandsGroup('App and machine:');
  const port = option('--port <number>', 'port; 0 picks a free one').argParser(portNumber).default(defaultPort);
  examples(
    command(
      root,
      'open',
      'open the app or the page of a run; serves the app if it is not open',
      [port],
      openApp,
    ).argument('[run]', runNames),
    'open a16c',
  );
  examples(
    command(
      root,
      'serve',
      'serve the app to a browser on this machine',
      [port, option('--tensorboard <folder>', 'write the metrics of running runs as TensorBoard events')],
      loading(async () => (await import('../commands/serve.ts')).serve),
    ),
    'serve --port 0 --tensorboard logs',
  );
  command(root, 'doctor', 'check the requirements of the app', [json], doctor);
  command(
    root,
    'diagnostics',
    'write a zip for a bug report: versions, checks and logs; no tokens or weights',
    [option('--out <file>', 'output file').default('starpo-diagnostics.zip')],
    diagnostics,
  );
  const history = root.command('history').description('manage the run history, the index of all runs');
  command(
    history,
    'rebuild',
    'rebuild the run history from the run folders; training and open apps are not interrupted',
    [json],
    loading(async () => (await import('../commands/history.ts')).rebuild),
  );
  command(
    root,
    'calibrate',
    'score the Echo Trap monitor and three other methods on labeled runs',
    [
      option('--fit', 'fit the thresholds to the runs (in `tuning`) first and save them in the data folder'),
      option(
        '--cross-validate',
        'also cross-validate: score each setting with thresholds fitted to the other settings',
      ),
      option('--chart <file>', 'also write an SVG chart of every run and its alarms'),
      json,
    ],
    loading(async () => (await import('../commands/calibrate.ts')).calibrate),
  ).argument(
    '[folder]',
    'folder of labeled runs, folder with `tuning` and `held-out`, or data folder (default: the runs in benchmarks/echo-trap of a checkout)',
  );
}
