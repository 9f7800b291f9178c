import { type Client, connectionLost } from '../contract/client.ts';
import type { KnownRunStatus, RunSummary } from '../contract/contract.ts';

const ends: readonly string[] = ['completed', 'stopped', 'failed', 'interrupted'] satisfies KnownRunStatus[];

/** Returns whether the run has ended: completed, stopped, failed or was interrupted. */
export const hasEnded = ({ status }: Pick<RunSummary, 'status'>) => ends.includes(status);

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
