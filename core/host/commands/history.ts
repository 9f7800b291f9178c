import { dataFolder } from '../../base/home.ts';
import type { RebuildReport } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { count } from '../../contract/numbers.ts';
import { usableCalibration } from '../../echo-trap/calibration.ts';
import { dropDamagedHistory } from '../../history/damage.ts';
import { lockFolder, openDatabase } from '../../history/database.ts';
import { rebuildHistory } from '../../history/rebuild.ts';
import { RunMonitors } from '../../history/run-monitors.ts';
import { asTask, cancelable, type TaskContext } from '../cancelable.ts';
import { print } from '../output.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Rebuilds the run history here or on the host and prints a report. Canceling keeps the runs rebuilt so far; the others keep their old history. Throws `history_in_use`. */
export async function rebuild({ home, json }: CommandOptions): Promise<void> {
  const folder = dataFolder(home);
  const { replaced, report } = await cancelable('Rebuilding the run history', async (context) => ({
    replaced: dropDamagedHistory(folder),
    report: (await rebuildHere(folder, context)) ?? (await rebuildOnHost(home, context)),
  }));
  print(json ? JSON.stringify({ folder, replaced, ...report }, null, 2) : describe(folder, replaced, report));
}

/** Returns null if another process is the host. */
async function rebuildHere(folder: string, context: TaskContext): Promise<RebuildReport | null> {
  const open: (() => void)[] = [];
  try {
    const lock = lockFolder(folder);
    open.push(() => lock.release());
    const database = openDatabase(folder);
    open.push(() => void database.close());
    const calibration = usableCalibration(folder, console.error);
    return await rebuildHistory(database, folder, new RunMonitors(database, folder, { calibration }), context);
  } catch (error) {
    if (error instanceof Failure && error.code === 'data_folder_in_use') return null;
    throw error;
  } finally {
    for (const close of open.reverse()) close();
  }
}

const rebuildOnHost = (home: string | undefined, context: TaskContext): Promise<RebuildReport> =>
  withClient(home, (client) => asTask(client, context, (taskId) => client.call('history.rebuild', {}, taskId)), {
    ...context,
    repeatable: true,
  });

function describe(folder: string, replaced: boolean, report: RebuildReport): string {
  const { runs, events, rollouts, skipped, forgotten, damaged, damagedAnnotations, unreadable } = report;
  return [
    ...(replaced ? ['The run history was damaged, not writable or from before version 1.0, and was deleted.'] : []),
    `Rebuilt the run history of ${folder}: ${count(runs, 'run')}, ${count(events, 'event')}, ${count(rollouts, 'episode file')}.`,
    ...skipped.map(({ name, reason }) => `  skipped ${name}: ${reason}`),
    ...damaged.map((name) => `  ${name}: skipped invalid lines in its journal`),
    ...damagedAnnotations.map((name) => `  ${name}: skipped invalid lines in annotations.jsonl`),
    ...unreadable.map((name) => `  ${name}: its files can't be read; its history is unchanged`),
    ...forgotten.map((name) => `  removed ${name}: its folder was deleted`),
  ].join('\n');
}
