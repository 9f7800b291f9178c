import { useEffect, useState } from 'react';
import type { RolloutFile } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/** The newest episodes of a run, also while it trains; null where there are none, undefined until they are known. */
export function useNewestRollout(runId: string | null): RolloutFile | null | undefined {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const [known, setKnown] = useState<{ runId: string; file: RolloutFile | null } | null>(null);
  useEffect(() => {
    if (runId === null || !open) return;
    let wanted = true;
    const hear = (files: readonly RolloutFile[]) => {
      if (!wanted) return;
      setKnown((state) => {
        const known = state?.runId === runId ? state.file : null;
        return {
          runId,
          file: files.reduce((best, file) => (best && !isBefore(best, file) ? best : file), known),
        };
      });
    };
    const stop = api.on('rollout', ({ file }) => hear([file]), runId);
    // Where they can't be had there are none.
    api.call('rollouts.list', { runId }).then(hear, () => hear([]));
    return () => {
      wanted = false;
      stop();
    };
  }, [api, runId, open]);
  return known?.runId === runId ? known.file : undefined;
}

/** Evaluations are shown only until there are episodes of training. */
function isBefore(a: RolloutFile, b: RolloutFile): boolean {
  const rank = ({ split }: RolloutFile) => (split === 'train' ? 1 : 0);
  return rank(a) < rank(b) || (rank(a) === rank(b) && a.iteration < b.iteration);
}
