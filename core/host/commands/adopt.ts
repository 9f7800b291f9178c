import { dataFolder } from '../../base/home.ts';
import { adoptRun } from '../../runs/adopt.ts';
import { removeHalfMade } from '../../runs/half-made.ts';
import { whileWanted } from '../giving-up.ts';
import { print } from '../output.ts';
import { withClient } from './with-client.ts';

/** Copies a run folder from elsewhere into the data folder and prints its id there. It copies by itself, so that core takes no path from a client. Ctrl-C gives it up, and leaves no copy. */
export async function adopt(folder: string, { home }: { home?: string }): Promise<void> {
  await removeHalfMade(dataFolder(home));
  const runId = await whileWanted(`Copying ${folder}`, (wanted) =>
    adoptRun(dataFolder(home), folder, wanted),
  );
  await withClient(home, (client) => client.call('runs.adopt', { runId }), { repeatable: true });
  print(runId);
}
