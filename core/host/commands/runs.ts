import type { RunSummary } from '../../api/contract.ts';
import { readLog } from '../../history/queries.ts';
import { print, runRow, successLine, table } from '../output.ts';
import { withCore } from './with-core.ts';

interface Options {
  home?: string;
  json?: boolean;
}

export async function listRuns({ home, json }: Options): Promise<void> {
  await withCore(home, async (core) => {
    const runs = core.runs.list();
    if (json) return print(JSON.stringify(runs, null, 2));
    if (runs.length === 0)
      return print(`No runs in ${core.home}. Start one with: starpo train starter-frozen-lake`);
    print(table([['RUN', 'STATUS', 'ITERATION', 'SUCCESS', 'MADE (UTC)'], ...runs.map(runRow)]));
  });
}

export async function showRun(runId: string, { home, json }: Options): Promise<void> {
  await withCore(home, async ({ runs, database }) => {
    const summary = runs.get(runId);
    const folder = runs.folder(runId);
    if (json) return print(JSON.stringify({ summary, config: await runs.config(runId), folder }, null, 2));
    print(describe(summary, folder));
    for (const { time, level, message } of readLog(database, runId)) {
      print(
        `  ${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}  ${level.padEnd(7)}  ${message}`,
      );
    }
  });
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
