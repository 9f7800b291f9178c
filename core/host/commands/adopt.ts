import { dataFolder } from '../../home.ts';
import { adoptRun, removeHalfAdopted } from '../../runs/adopt.ts';
import { print } from '../output.ts';
import { withClient } from './with-client.ts';

/** Copies a run folder from elsewhere into the data folder and prints its id there. It copies by itself, so that core takes no path from a client. */
export async function adopt(folder: string, { home }: { home?: string }): Promise<void> {
  await removeHalfAdopted(dataFolder(home));
  const runId = await adoptRun(dataFolder(home), folder);
  await withClient(home, (client) => client.call('runs.adopt', { runId }), { repeatable: true });
  print(runId);
}
