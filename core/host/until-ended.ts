import { type Client, connectionLost } from '../contract/client.ts';
import type { RunSummary } from '../contract/contract.ts';
import { hasEnded } from '../contract/run-facts.ts';

/** Resolves with a run's summary when it has ended. Throws `connection_lost` if the host exits first. */
export function untilEnded(client: Client, runId: string): Promise<RunSummary> {
  return new Promise((resolve, reject) => {
    const check = (run: RunSummary) => {
      if (hasEnded(run)) resolve(run);
    };
    client.on('run', check, runId);
    const refresh = () => client.call('runs.get', { runId }).then(({ summary }) => check(summary), reject);
    client.on('missed', refresh);
    client.onClose(() => reject(connectionLost()));
    void refresh();
  });
}
