import { useEffect, useState } from 'react';
import type { RolloutFile } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/** The newest episodes of a run, also while it trains; null until they are known, and where there are none. */
export function useNewestRollout(runId: string | null): RolloutFile | null {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const [known, setKnown] = useState<{ runId: string; file: RolloutFile } | null>(null);
  useEffect(() => {
    if (runId === null || !open) return;
    let wanted = true;
    const hear = (files: readonly RolloutFile[]) => {
      if (!wanted || files.length === 0) return;
      setKnown((state) => {
        const all = state?.runId === runId ? [state.file, ...files] : files;
        return { runId, file: all.reduce((best, file) => (isBefore(best, file) ? file : best)) };
      });
    };
    const stop = api.on('rollout', ({ file }) => hear([file]), runId);
    // Where they can't be had there is a still picture.
    api.call('rollouts.list', { runId }).then(hear, () => {});
    return () => {
      wanted = false;
      stop();
    };
  }, [api, runId, open]);
  return known?.runId === runId ? known.file : null;
}

/** Evaluations are shown only until there are episodes of training. */
function isBefore(a: RolloutFile, b: RolloutFile): boolean {
  const rank = ({ split }: RolloutFile) => (split === 'train' ? 1 : 0);
  return rank(a) < rank(b) || (rank(a) === rank(b) && a.iteration < b.iteration);
}
