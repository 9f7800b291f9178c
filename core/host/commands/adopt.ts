import { resolve } from 'node:path';
import { print } from '../output.ts';
import { withClient } from './with-client.ts';

/** Copies a run folder from elsewhere into the data folder and prints its id there. */
export async function adopt(folder: string, { home }: { home?: string }): Promise<void> {
  const { runId } = await withClient(home, (client) =>
    client.call('runs.adopt', { folder: resolve(folder) }),
  );
  print(runId);
}
