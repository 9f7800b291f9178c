import type { Client } from '../../api/client.ts';
import type { RunSummary } from '../../api/contract.ts';
import { dataFolder } from '../../home.ts';
import { runIdPattern } from '../../run-directory/names.ts';
import { runUnknown } from '../../runs/runs.ts';
import { print, runRow, successLine, table } from '../output.ts';
import { withClient } from './with-client.ts';

interface Options {
  home?: string;
  json?: boolean;
}

export async function listRuns({ home, json }: Options): Promise<void> {
  const runs = await withClient(home, (client) => client.call('runs.list', {}), { repeatable: true });
  if (json) return print(JSON.stringify(runs, null, 2));
  if (runs.length === 0)
    return print(`No runs in ${dataFolder(home)}. Start one with: starpo train starter-frozen-lake`);
  print(table([['RUN', 'STATUS', 'ITERATION', 'SUCCESS', 'MADE (UTC)'], ...runs.map(runRow)]));
}

export async function showRun(runId: string, { home, json }: Options): Promise<void> {
  if (!runIdPattern.test(runId)) throw runUnknown(runId);
  const ask = async (client: Client) => ({
    run: await client.call('runs.get', { runId }),
    log: json ? [] : await client.call('runs.log', { runId }),
  });
  const { run, log } = await withClient(home, ask, { repeatable: true });
  if (json) return print(JSON.stringify(run, null, 2));
  print(describe(run.summary, run.folder));
  for (const { time, level, message } of log) {
    print(`  ${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}  ${level.padEnd(7)}  ${message}`);
  }
}

function describe(run: RunSummary, folder: string): string {
  const rows = [
    ['run', run.id],
    ['preset', run.preset],
    ['status', run.status],
    ['iteration', `${run.iteration} of ${run.iterations}`],
    ['success', successLine(run.latest) || 'not evaluated yet'],
    ['folder', folder],
  ];
  if (run.failure)
    rows.push(['failure', `${run.failure.message} (${run.failure.code})`], ['hint', run.failure.hint]);
  return table(rows);
}
