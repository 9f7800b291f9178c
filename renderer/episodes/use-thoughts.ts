import { useEffect, useState } from 'react';
import type { ApiError, Thoughts } from '../../core/contract/contract.ts';
import { asFailure } from '../../core/contract/failure.ts';
import { isConnectionLost } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { useApp } from '../stores/app-store.ts';

interface LoadedThoughts {
  /** The previous iteration's data until the requested one is loaded. */
  thoughts: Thoughts | null;
  problem: ApiError | null;
  loading: boolean;
}

/** Returns the first reasoning texts of a training rollout; `iteration: null` requests nothing. */
export function useThoughts(runId: string, iteration: number | null): LoadedThoughts {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const [results, setResults] = useState<ReadonlyMap<string, Thoughts | ApiError>>(new Map());
  const [shown, setShown] = useState<string | null>(null);
  const key = `${runId} ${iteration}`;
  const isLoaded = results.has(key);

  useEffect(() => {
    if (iteration === null || isLoaded || connection !== 'open') return;
    let active = true;
    api
      .call('rollouts.thoughts', { runId, iteration })
      // A lost request is repeated after a reconnection.
      .catch((cause) => (isConnectionLost(cause) ? null : asFailure(cause).toApiError()))
      .then((result) => active && result && setResults((all) => new Map(all).set(key, result)));
    return () => {
      active = false;
    };
  }, [api, connection, runId, iteration, key, isLoaded]);
  useEffect(() => {
    if (isLoaded) setShown(key);
  }, [isLoaded, key]);

  const result = results.get(isLoaded ? key : (shown ?? '')) ?? null;
  const failed = result !== null && 'code' in result;
  return {
    thoughts: failed ? null : result,
    problem: failed && isLoaded ? result : null,
    loading: iteration !== null && !isLoaded,
  };
}
