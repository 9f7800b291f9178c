import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { withClient } from './with-client.ts';

/** Keeps a checkpoint's optimiser state, or not any longer; a living trainer is asked to, since it deletes what isn't kept. */
export async function pinCheckpoint(
  named: string,
  iteration: number,
  { home, off = false }: { home?: string; off?: boolean },
): Promise<void> {
  await withClient(home, async (client) => {
    const runId = await resolveRun(client, named);
    await client.call('checkpoints.pin', { runId, iteration, pinned: !off });
    print(
      off
        ? `the checkpoint of iteration ${iteration} is kept no longer than checkpoint.keep says`
        : `the checkpoint of iteration ${iteration} keeps its optimiser state`,
    );
  });
}
