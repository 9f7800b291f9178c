import { Failure } from '../../contract/failure.ts';
import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { withClient } from './with-client.ts';

/** Asks a living trainer to keep a checkpoint's optimiser state, or not to any longer. */
export async function pinCheckpoint(
  named: string,
  iteration: number,
  { home, off = false }: { home?: string; off?: boolean },
): Promise<void> {
  await withClient(home, async (client) => {
    const runId = await resolveRun(client, named);
    const command = off ? 'unpin' : 'pin';
    const { accepted, message } = await client.call('runs.command', { runId, command, iteration });
    if (!accepted)
      throw new Failure('command_refused', `The trainer refused: ${message}.`, 'See `starpo show`.');
    print(message);
  });
}
