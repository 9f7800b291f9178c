import type { Setting } from '../../run-config/settings.ts';
import { print } from '../output.ts';
import { withClient } from './with-client.ts';

export interface NewRunOptions {
  home?: string | undefined;
  preset: string;
  set: Record<string, Setting>;
}

/** Made only once: where the host ends before it has answered, that is said, and `starpo runs` tells whether the run is there. */
export async function newRun({ home, preset, set }: NewRunOptions): Promise<void> {
  await withClient(home, async (client) => {
    const { runId } = await client.call('runs.create', { preset, set, start: false });
    print((await client.call('runs.get', { runId })).folder);
  });
}
