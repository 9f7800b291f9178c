import { useEffect, useState } from 'react';
import type { ApiError, Thoughts } from '../../core/contract/contract.ts';
import { asFailure } from '../../core/contract/failure.ts';
import { isConnectionLost } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { useApp } from '../stores/app-store.ts';

interface Asked {
  /** The previous iteration's data until the requested one is loaded. */
  thoughts: Thoughts | null;
  problem: ApiError | null;
  loading: boolean;
}

/** Returns the first reasoning texts of a training rollout; null requests nothing. */
export function useThoughts(runId: string, iteration: number | null): Asked {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const [known, setKnown] = useState<ReadonlyMap<string, Thoughts | ApiError>>(new Map());
  const [shown, setShown] = useState<string | null>(null);
  const key = `${runId} ${iteration}`;
  const have = known.has(key);

  useEffect(() => {
    if (iteration === null || have || connection !== 'open') return;
    let wanted = true;
    api
      .call('rollouts.thoughts', { runId, iteration })
      // After a reconnect, request again what was lost.
      .catch((cause) => (isConnectionLost(cause) ? null : asFailure(cause).toApiError()))
      .then((answer) => wanted && answer && setKnown((all) => new Map(all).set(key, answer)));
    return () => {
      wanted = false;
    };
  }, [api, connection, runId, iteration, key, have]);
  useEffect(() => {
    if (have) setShown(key);
  }, [have, key]);

  const answer = known.get(have ? key : (shown ?? '')) ?? null;
  const failed = answer !== null && 'code' in answer;
  return {
    thoughts: failed ? null : answer,
    problem: failed && have ? answer : null,
    loading: iteration !== null && !have,
  };
}
