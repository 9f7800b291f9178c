import { useEffect, useState } from 'react';
import type { RolloutBoards, RolloutFile } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { useApp } from '../stores/app-store.ts';

/**
 * Returns the boards of `file`. A new file replaces the current boards when `ready` is true, so that no episode
 * is cut off. If loading fails, the current boards stay. `of` is the run whose boards are returned.
 */
export function useBoards(
  runId: string,
  file: RolloutFile | null,
  ready: boolean,
): { boards: RolloutBoards | null; of: string; failed: boolean } {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const [shown, setShown] = useState<{ of: string; boards: RolloutBoards } | null>(null);
  const [failed, setFailed] = useState(false);
  const iteration = file?.iteration;
  const split = file?.split;
  const isShown = shown?.of === runId && shown.boards.iteration === iteration && shown.boards.split === split;
  const mustLoad = connection === 'open' && !isShown && (ready || shown === null);

  useEffect(() => {
    if (!mustLoad || iteration === undefined || split === undefined) return;
    let active = true;
    api
      .call('rollouts.boards', { runId, iteration, split, evaluation: null })
      .then((boards) => active && setShown({ of: runId, boards }))
      // The file may be deleted or damaged. Replay shows the error, and the next rollout follows soon.
      .catch(() => active && setFailed(true));
    return () => {
      active = false;
    };
  }, [api, runId, iteration, split, mustLoad]);

  return { boards: shown?.boards ?? null, of: shown?.of ?? runId, failed };
}
