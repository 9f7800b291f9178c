import { useEffect, useState } from 'react';
import type { RolloutBoards, RolloutFile } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { useApp } from '../stores/app-store.ts';

/**
 * The boards of the file that is wanted. Another file, also of another run, replaces those that are shown once `ready`, so that nothing is cut off in the middle; until it has
 * come, and where it can't be had, the last ones stay. `of`: the run whose boards they are.
 */
export function useBoards(
  runId: string,
  wanted: RolloutFile | null,
  ready: boolean,
): { boards: RolloutBoards | null; of: string; failed: boolean } {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const [shown, setShown] = useState<{ of: string; boards: RolloutBoards } | null>(null);
  const [failed, setFailed] = useState(false);
  const iteration = wanted?.iteration;
  const split = wanted?.split;
  const isShown = shown?.of === runId && shown.boards.iteration === iteration && shown.boards.split === split;
  const due = connection === 'open' && !isShown && (ready || shown === null);

  useEffect(() => {
    if (!due || iteration === undefined || split === undefined) return;
    let asked = true;
    api
      .call('rollouts.boards', { runId, iteration, split, evaluation: null })
      .then((boards) => asked && setShown({ of: runId, boards }))
      // It may have been deleted meanwhile, or be damaged: the replay says why, and the next one comes soon.
      .catch(() => asked && setFailed(true));
    return () => {
      asked = false;
    };
  }, [api, runId, iteration, split, due]);

  return { boards: shown?.boards ?? null, of: shown?.of ?? runId, failed };
}
