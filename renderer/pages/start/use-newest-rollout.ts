import { useEffect, useState } from 'react';
import type { RolloutFile } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/** Returns the newest rollout file of a run, updated during training; null if there is none, undefined while loading. */
export function useNewestRollout(runId: string | null): RolloutFile | null | undefined {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const [newest, setNewest] = useState<{ runId: string; file: RolloutFile | null } | null>(null);
  useEffect(() => {
    if (runId === null || !open) return;
    let active = true;
    const update = (files: readonly RolloutFile[]) => {
      if (!active) return;
      setNewest((state) => {
        const previous = state?.runId === runId ? state.file : null;
        return {
          runId,
          file: files.reduce((best, file) => (best && !isBefore(best, file) ? best : file), previous),
        };
      });
    };
    const stop = api.on('rollout', ({ file }) => update([file]), runId);
    // Treat a failed request as no files.
    api.call('rollouts.list', { runId }).then(update, () => update([]));
    return () => {
      active = false;
      stop();
    };
  }, [api, runId, open]);
  return newest?.runId === runId ? newest.file : undefined;
}

/** Returns whether `b` takes precedence: training over evaluations, then the newer file. */
function isBefore(a: RolloutFile, b: RolloutFile): boolean {
  const rank = ({ split }: RolloutFile) => (split === 'train' ? 1 : 0);
  return rank(a) < rank(b) || (rank(a) === rank(b) && a.iteration < b.iteration);
}
