import { useCallback } from 'react';
import type { Advice, RunSummary } from '../../../../core/contract/contract.ts';
import { Failure } from '../../../../core/contract/failure.ts';
import type { Api } from '../../../api/api.ts';
import { useApi } from '../../../api/context.ts';
import { isLive } from '../../../components/run-facts.ts';
import { useApp } from '../../../stores/app-store.ts';

/** Does what an advice says; gives the new run's id where there is one. Throws what core does, and `command_refused`. */
export function useAct(run: RunSummary): (advice: Advice) => Promise<string | null> {
  const api = useApi();
  return useCallback(
    async ({ action }: Advice) => {
      if (action.kind === 'command') {
        await command(api, run.id, action.command);
        return null;
      }
      const { checkpoints } = await api.call('evaluations.choices', { runId: run.id });
      const checkpoint = checkpoints.filter((iteration) => iteration <= action.notAfter).at(-1);
      if (checkpoint === undefined)
        throw new Failure(
          'checkpoint_missing',
          `No checkpoint at or before iteration ${action.notAfter} is left.`,
          'Start anew with the changed setting.',
        );
      if (isLive(run.status)) {
        await command(api, run.id, 'stop');
        await ended(run.id);
      }
      const set = Object.fromEntries(action.changes.map(({ path, value }) => [path, value]));
      const source = { run: run.id, checkpoint, keepOptimizer: false };
      const { runId } = await api.call('runs.create', { ...source, set, start: true });
      return runId;
    },
    [api, run.id, run.status],
  );
}

async function command(api: Api, runId: string, name: 'pause' | 'checkpoint' | 'stop'): Promise<void> {
  const { accepted, message } = await api.call('runs.command', { runId, command: name });
  if (!accepted) throw new Failure('command_refused', `Not done: ${message}`, 'Try again in a moment.');
}

/** Settles when the run's trainer has ended. */
function ended(runId: string): Promise<void> {
  const live = () => useApp.getState().runs?.some(({ id, status }) => id === runId && isLive(status));
  return new Promise((resolve) => {
    const look = () => {
      if (live()) return;
      stop();
      resolve();
    };
    const stop = useApp.subscribe(look);
    look();
  });
}
