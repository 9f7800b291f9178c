import { useEffect, useState } from 'react';
import type { EpisodeTokens } from '../../../../core/contract/contract.ts';
import { useApi } from '../../../api/context.ts';
import { useApp } from '../../../stores/app-store.ts';
import { useRun } from '../../../views/run-view.tsx';

/** Loads an episode's sampled tokens if `enabled`. Returns null while loading. */
export function useTokens(evaluation: string | null, episodeId: string, enabled: boolean): EpisodeTokens | null {
  const api = useApi();
  const runId = useRun((state) => state.runId);
  const report = useApp((state) => state.report);
  const connection = useApp((state) => state.connection);
  const key = `${runId} ${evaluation} ${episodeId}`;
  const [loaded, setLoaded] = useState<{ key: string; tokens: EpisodeTokens } | null>(null);
  useEffect(() => {
    if (!enabled || connection !== 'open') return;
    let active = true;
    api
      .call('rollouts.tokens', { runId, evaluation, episodeId })
      .then((tokens) => active && setLoaded({ key, tokens }))
      .catch((cause) => active && report(cause));
    return () => {
      active = false;
    };
  }, [api, report, connection, runId, evaluation, episodeId, enabled, key]);
  return loaded?.key === key ? loaded.tokens : null;
}
