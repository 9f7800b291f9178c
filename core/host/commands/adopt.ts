import { resolve } from 'node:path';
import { createClient } from '../../api/client.ts';
import { print } from '../output.ts';
import { withStudio } from './with-client.ts';

/** Copies a run folder from elsewhere into the data folder and prints its id there. The path is meant from where the person is. */
export async function adopt(folder: string, { home }: { home?: string }): Promise<void> {
  // Checkpoints take their time to copy: others work through this process meanwhile.
  await withStudio({ home, endpoint: { port: 0 } }, async (studio) => {
    const client = createClient(await studio.open());
    const { runId } = await client.call('runs.adopt', { folder: resolve(folder) });
    print(runId);
  });
}
