import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { withClient } from './with-client.ts';

/** Keeps a checkpoint, with its optimiser state where it has it, or not any longer; a living trainer is asked to, since it deletes what isn't kept. */
export async function pinCheckpoint(
  named: string,
  iteration: number,
  { home, off = false }: { home?: string; off?: boolean },
): Promise<void> {
  await withClient(home, async (client) => {
    const runId = await resolveRun(client, named);
    await client.call('checkpoints.pin', { runId, iteration, pinned: !off });
    const checkpoints = await client.call('checkpoints.list', { runId });
    const { optimizer = false } = checkpoints.find((each) => each.iteration === iteration) ?? {};
    const what = optimizer ? 'keeps its optimiser state' : 'stays; its optimiser state is deleted already';
    print(
      `the checkpoint of iteration ${iteration} ${off ? 'is kept no longer than checkpoint.keep says' : what}`,
    );
  });
}
