import { dataFolder } from '../../base/home.ts';
import type { RebuildReport } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { usableCalibration } from '../../echo-trap/calibration.ts';
import { dropDamagedHistory } from '../../history/damage.ts';
import { lockFolder, openDatabase } from '../../history/database.ts';
import { Judge } from '../../history/echo-trap.ts';
import { rebuildHistory } from '../../history/rebuild.ts';
import { asTask, type Wanted, whileWanted } from '../giving-up.ts';
import { print } from '../output.ts';
import { withClient } from './with-client.ts';

/** Makes the index over all runs again, or has the host do so, and says what was found; Ctrl-C gives it up, and leaves what is there whole. Throws `history_in_use`. */
export async function rebuild({ home, json }: { home?: string; json?: boolean }): Promise<void> {
  const folder = dataFolder(home);
  const { replaced, report } = await whileWanted('Making the history again', async (wanted) => ({
    replaced: dropDamagedHistory(folder),
    report: (await rebuildHere(folder, wanted)) ?? (await rebuildThere(home, wanted)),
  }));
  print(json ? JSON.stringify({ folder, replaced, ...report }, null, 2) : describe(folder, replaced, report));
}

/** Null where another process has the data folder. */
async function rebuildHere(folder: string, wanted: Wanted): Promise<RebuildReport | null> {
  const open: (() => void)[] = [];
  try {
    const lock = lockFolder(folder);
    open.push(() => lock.release());
    const database = openDatabase(folder);
    open.push(() => void database.close());
    const calibration = usableCalibration(folder, console.error);
    return await rebuildHistory(database, folder, new Judge(database, folder, calibration), wanted);
  } catch (error) {
    if (error instanceof Failure && error.code === 'data_folder_in_use') return null;
    throw error;
  } finally {
    for (const close of open.reverse()) close();
  }
}

const rebuildThere = (home: string | undefined, wanted: Wanted): Promise<RebuildReport> =>
  withClient(
    home,
    (client) =>
      asTask(client, { kind: 'rebuild', runId: null }, wanted, () => client.call('history.rebuild', {})),
    wanted,
  );

function describe(folder: string, replaced: boolean, report: RebuildReport): string {
  const { runs, events, rollouts, skipped, forgotten, damaged, damagedAnnotations, unreadable } = report;
  return [
    ...(replaced ? ['The history was damaged; it was deleted.'] : []),
    `Rebuilt the history of ${folder}: runs ${runs}, events ${events}, files of episodes ${rollouts}.`,
    ...skipped.map(
      (name) =>
        `  skipped ${name}: not a run folder, or its run.json can't be read; \`starpo adopt\` takes in a folder with another name`,
    ),
    ...damaged.map((name) => `  ${name}: its journal has lines that are no events; they were skipped`),
    ...damagedAnnotations.map(
      (name) => `  ${name}: its annotations.jsonl has lines that are no annotations; they were skipped`,
    ),
    ...unreadable.map((name) => `  ${name}: its files can't be read; it stays as it was`),
    ...forgotten.map((name) => `  forgot ${name}: its folder is gone`),
  ].join('\n');
}
