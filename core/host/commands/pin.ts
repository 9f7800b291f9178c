import { print } from '../output.ts';
import { type CommandOptions, withRun } from './with-client.ts';

/** Pins or unpins a checkpoint and prints whether its optimizer state is still there. */
export async function pinCheckpoint(
  named: string,
  iteration: number,
  { home, off = false }: CommandOptions & { off?: boolean },
): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    await client.call('checkpoints.pin', { runId, iteration, pinned: !off });
    const checkpoints = await client.call('checkpoints.list', { runId });
    const { optimizer = false } = checkpoints.find((each) => each.iteration === iteration) ?? {};
    const state = optimizer ? '' : '; its optimizer state was already deleted';
    print(off ? `unpinned checkpoint ${iteration}` : `pinned checkpoint ${iteration}${state}`);
  });
}
