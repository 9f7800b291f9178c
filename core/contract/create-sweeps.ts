import type { Client } from './client.ts';
import type { PaperSweepInput } from './contract.ts';

/**
 * Creates the sweeps that do not exist yet, which are found by their names, and yields the ids of all. `start`: queues the runs of those that have not
 * completed. Throws as `studies.create` and `studies.start` do; called again, it continues.
 */
export async function* createSweeps(
  client: Pick<Client, 'call'>,
  sweeps: readonly PaperSweepInput[],
  start: boolean,
): AsyncGenerator<string> {
  const existing = await client.call('studies.list', {});
  for (const sweep of sweeps) {
    const found = existing.find(({ name }) => name === sweep.name);
    if (found && start && found.state !== 'completed') await client.call('studies.start', { studyId: found.id });
    yield (found ?? (await client.call('studies.create', { ...sweep, start }))).id;
  }
}
