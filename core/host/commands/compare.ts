import type { Client } from '../../contract/client.ts';
import type { Output, RunSettings, RunSummary } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { percent } from '../../contract/numbers.ts';
import { panelHashes } from '../../contract/panel-words.ts';
import { evaluatedLabel } from '../../contract/run-facts.ts';
import { distinctName } from '../../contract/run-names.ts';
import { isDerived } from '../../facts/setting-facts.ts';
import { durationText, print, table } from '../output.ts';
import { findRun } from '../run-reference.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Success on the levels of an environment, in [0, 1]. */
interface Success {
  environment: string;
  last: number;
  best: number;
  bestIteration: number;
}

interface Compared {
  summary: RunSummary;
  success: Success[];
}

type Difference = RunSettings['settings'][number];

/** Prints the results of runs side by side, then the settings in which they differ. */
export async function compareRuns(named: string[], { home, json }: CommandOptions): Promise<void> {
  const { runs, settings } = await withClient(home, (client) => fetchRuns(client, named), { repeatable: true });
  if (json) return print(JSON.stringify({ runs: runs.map(asJson), settings }, null, 2));
  const titles = ['', ...runs.map(({ summary }) => distinctName(summary))];
  print(table([titles, ...resultRows(runs)]));
  const configured = runs.filter(hasSettings).length;
  if (configured < 2) return print('\nSettings are not available: imported runs have only metrics.');
  if (settings.length === 0) return print('\nNo settings differ.');
  print(`\nSettings that differ:\n${table(settings.map(settingRow))}`);
}

/** Throws `usage_invalid` unless there are two runs. */
async function fetchRuns(client: Client, named: readonly string[]) {
  const all = await client.call('runs.list', {});
  const summaries = [...new Set(named.map((each) => findRun(all, each)))];
  if (summaries.length < 2)
    throw new Failure('usage_invalid', 'A comparison needs two different runs.', 'List runs with `starpo runs`.');
  const runs = await Promise.all(
    summaries.map(async (summary): Promise<Compared> => {
      const series = await client.call('runs.series', { runId: summary.id, names: evaluations(summary) });
      return { summary, success: successOf(series) };
    }),
  );
  const settings = await client.call('runs.settings', { runIds: summaries.map(({ id }) => id) });
  return { runs, settings: differences(settings, runs) };
}

const hasSettings = ({ summary }: Compared) => summary.task !== 'imported';

/** Returns the settings in which the runs differ, apart from imported runs, which have none. */
function differences({ runIds, settings }: RunSettings, runs: readonly Compared[]): Difference[] {
  return settings.flatMap(({ path, values }) => {
    const settingOf = ({ summary }: Compared) => values[runIds.indexOf(summary.id)] ?? null;
    const compared = new Set(runs.filter(hasSettings).map(settingOf));
    return isDerived(path) || compared.size < 2 ? [] : [{ path, values: runs.map(settingOf) }];
  });
}

const evaluations = ({ latest }: RunSummary) =>
  Object.keys(latest).filter((name) => evaluatedLabel(name) !== undefined);

function successOf(series: Output<'runs.series'>): Success[] {
  return series.flatMap(({ name, iterations, values }) => {
    const environment = evaluatedLabel(name);
    if (environment === undefined || values.length === 0) return [];
    const best = values.reduce((most, value) => Math.max(most, value));
    return { environment, last: values.at(-1)!, best, bestIteration: iterations[values.indexOf(best)]! };
  });
}

const asJson = ({ summary, success }: Compared) => {
  const { id, name, status, iteration, iterations, trainingSeconds, trap, collapse, latest, panels } = summary;
  const reward = latest['rollout/reward_mean'] ?? null;
  const echoTrap = trap?.state ?? null;
  return { id, name, status, iteration, iterations, success, panels, reward, trainingSeconds, echoTrap, collapse };
};

function resultRows(runs: readonly Compared[]): string[][] {
  const row = (title: string, of: (run: Compared) => string) => [title, ...runs.map((run) => of(run) || '-')];
  const environments = new Set(runs.flatMap(({ success }) => success.map(({ environment }) => environment)));
  const ofEnvironment = (environment: string) => {
    const find = (run: Compared) => run.success.find((each) => each.environment === environment);
    return [
      row(`success ${environment}`, (run) => percent(find(run)?.last)),
      row(`best success ${environment}`, (run) => {
        const found = find(run);
        return found ? `${percent(found.best)} at ${found.bestIteration}` : '';
      }),
    ];
  };
  return [
    row('status', ({ summary }) => (summary.collapse ? `${summary.status}, collapsed` : summary.status)),
    row('iteration', ({ summary }) => `${summary.iteration} of ${summary.iterations}`),
    ...[...environments].flatMap(ofEnvironment),
    row('panels', ({ summary }) => panelHashes(summary.panels)),
    row('reward', ({ summary }) => summary.latest['rollout/reward_mean']?.toFixed(3) ?? ''),
    row('training time', (run) => (hasSettings(run) ? durationText(run.summary.trainingSeconds) : '')),
    row('echo trap', ({ summary }) => summary.trap?.state ?? ''),
  ];
}

const settingRow = ({ path, values }: Difference) => [
  path,
  ...values.map((value) => (value === '' ? '""' : String(value ?? '-'))),
];
