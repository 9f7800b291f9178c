import { dataFolder } from '../../base/home.ts';
import type {
  FirstStepCheck,
  Output,
  RunCollapse,
  RunStorage,
  RunSummary,
  TrapBrief,
  UnreadableFolder,
} from '../../contract/contract.ts';
import { checkLine, verdictSummary } from '../../contract/first-step-words.ts';
import { bytes, count, percent } from '../../contract/numbers.ts';
import { shortHash } from '../../contract/panel-words.ts';
import { actionText, advise, print, runHeadings, runRow, successLine, table } from '../output.ts';
import { logText } from './logs.ts';
import { type CommandOptions, withClient, withRun } from './with-client.ts';

export async function listRuns({ home, json, all }: CommandOptions & { all?: boolean }): Promise<void> {
  const { runs, unreadable } = await withClient(
    home,
    async (client) => ({
      runs: await client.call('runs.list', {}),
      unreadable: await client.call('runs.unreadable', {}),
    }),
    { repeatable: true },
  );
  // Printed to stderr, so that stdout contains only the list of runs.
  if (unreadable.length > 0) process.stderr.write(`${unreadableText(unreadable)}\n`);
  if (json) return print(JSON.stringify(runs, null, 2));
  if (runs.length === 0)
    return advise(`No runs in ${dataFolder(home)}. Start one with \`starpo train starter-frozen-lake\`.`);
  const shown = all ? runs : runs.filter((run) => !run.marks.archived);
  print(table([runHeadings, ...shown.map(runRow)]));
  const hidden = runs.length - shown.length;
  if (hidden > 0) advise(`${count(hidden, 'archived run')} hidden; list them with \`starpo runs --all\``);
}

/** Returns `1 folder can't be read:` and one line per folder. */
function unreadableText(unreadable: readonly UnreadableFolder[]): string {
  return [
    `${count(unreadable.length, 'folder')} can't be read:`,
    ...unreadable.map(({ name, reason }) => `  ${name}: ${reason}`),
  ].join('\n');
}

export async function showRun(named: string, { home, json }: CommandOptions): Promise<void> {
  const { run, storage, checkpoints, log } = await withRun(
    home,
    named,
    async (client, runId) => ({
      run: await client.call('runs.get', { runId }),
      storage: await client.call('runs.storage', { runId }),
      checkpoints: await client.call('checkpoints.list', { runId }),
      log: json ? [] : await client.call('runs.log', { runId }),
    }),
    { repeatable: true },
  );
  if (json) return print(JSON.stringify({ ...run, storage, checkpoints }, null, 2));
  print(describe(run, storage, checkpoints));
  if (run.firstStepCheck) print(firstStepTable(run.firstStepCheck));
  for (const line of log) print(`  ${logText(line)}`);
}

function describe(
  { summary: run, folder }: Pick<Output<'runs.get'>, 'summary' | 'folder'>,
  storage: RunStorage,
  checkpoints: Output<'checkpoints.list'>,
): string {
  const rows = [
    ['run', run.name],
    ['id', run.id],
    ['preset', run.preset],
    ['status', run.queuePosition === null ? run.status : `queued, position ${run.queuePosition}`],
    ['iteration', `${run.iteration} of ${run.iterations}`],
    ['success', successLine(run.latest) || 'not evaluated'],
    ...(run.panels.length > 0
      ? [['panels', run.panels.map(({ label, hash }) => `${label} ${shortHash(hash)}`).join(', ')]]
      : []),
    ...(run.collapse ? [['collapsed', collapseLine(run.collapse)]] : []),
    ...(run.parent ? [['forked from', parentOf(run.parent)]] : []),
    ...(run.trap ? [['echo trap', trapText(run.trap)]] : []),
    ...(run.lastAction ? [['action', actionText(run.lastAction)]] : []),
    ['folder', folder],
    ['disk', storageLine(storage)],
    ...(checkpoints.length > 0 ? [['checkpoints', checkpointsLine(checkpoints)]] : []),
  ];
  const { tags, note, starred, archived } = run.marks;
  const marks = [...(starred ? ['starred'] : []), ...(archived ? ['archived'] : []), ...tags];
  if (marks.length > 0) rows.push(['tags', marks.join(', ')]);
  if (note) rows.push(['note', note.replaceAll('\n', ' ')]);
  if (run.stalled) rows.push(['STALLED', run.stalled.message], ['hint', run.stalled.hint]);
  for (const { message, hint } of storage.warnings) rows.push(['warning', `${message} ${hint}`]);
  if (run.stopReason) rows.push(['stopped', run.stopReason]);
  if (run.failure)
    rows.push(['failure', run.failure.message], ['hint', run.failure.hint], ['details', run.failure.code]);
  return table(rows);
}

/** `48.4 % at iteration 40 -> 0.0 % at 150, warned at 16`. */
const collapseLine = ({ peak, last, warnedAt }: RunCollapse) =>
  `${percent(peak.success)} at iteration ${peak.iteration} -> ${percent(last.success)} at ${last.iteration}${warnedAt === null ? '' : `, warned at ${warnedAt}`}`;

const trapText = ({ state, since }: TrapBrief) =>
  state === 'unmeasured' ? 'unmeasured: too few iterations or metrics' : `${state} since iteration ${since}`;

const firstStepTable = (check: FirstStepCheck) =>
  [
    `first-step check of iteration ${check.iteration}: ${verdictSummary(check)}`,
    ...check.checks.map((item) => `  ${item.verdict.padEnd(10)}  ${checkLine(item)}`),
  ].join('\n');

const parentOf = ({ run, iteration }: NonNullable<RunSummary['parent']>) =>
  iteration === null ? run : `${run}, iteration ${iteration}`;

/** `0, 40, 80 (optimizer state: 80)`, oldest first. */
function checkpointsLine(checkpoints: Output<'checkpoints.list'>): string {
  const words = (some: Output<'checkpoints.list'>) => some.map(({ iteration }) => iteration).join(', ');
  const oldestFirst = checkpoints.toReversed();
  const whole = words(oldestFirst.filter(({ optimizer }) => optimizer)) || 'none';
  return `${words(oldestFirst)} (optimizer state: ${whole})`;
}

function storageLine({ total, rollouts, checkpoints, journal, budget }: RunStorage): string {
  const parts = `rollouts ${bytes(rollouts)}, checkpoints ${bytes(checkpoints)}, journal ${bytes(journal)}`;
  return `${bytes(total)} (${parts})${budget === null ? '' : ` of a budget of ${bytes(budget)}`}`;
}
