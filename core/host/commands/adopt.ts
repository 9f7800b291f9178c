import { dataFolder } from '../../base/home.ts';
import { adoptRun } from '../../runs/adopt.ts';
import { removePartialFolders } from '../../runs/partial-folders.ts';
import { cancelable } from '../cancelable.ts';
import { print } from '../output.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Copies a run folder into the data folder and prints the run's id. This process copies, so that the server accepts no paths from clients. */
export async function adopt(folder: string, { home }: CommandOptions): Promise<void> {
  await removePartialFolders(dataFolder(home));
  const runId = await cancelable(`Copying ${folder}`, (context) => adoptRun(dataFolder(home), folder, context));
  await withClient(home, (client) => client.call('runs.adopt', { runId }), { repeatable: true });
  print(runId);
}
