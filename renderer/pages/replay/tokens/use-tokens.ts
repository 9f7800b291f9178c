import { useEffect, useState } from 'react';
import type { EpisodeTokens } from '../../../../core/contract/contract.ts';
import { useApi } from '../../../api/context.ts';
import { useApp } from '../../../stores/app-store.ts';
import { useRun } from '../../../views/run-view.tsx';

/** The sampled tokens of an episode of the view's run, once they are asked for; null while they come. */
export function useTokens(
  evaluation: string | null,
  episodeId: string,
  asked: boolean,
): EpisodeTokens | null {
  const api = useApi();
  const runId = useRun((state) => state.runId);
  const report = useApp((state) => state.report);
  const connection = useApp((state) => state.connection);
  const key = `${runId} ${evaluation} ${episodeId}`;
  const [known, setKnown] = useState<{ key: string; tokens: EpisodeTokens } | null>(null);
  useEffect(() => {
    if (!asked || connection !== 'open') return;
    let wanted = true;
    api
      .call('rollouts.tokens', { runId, evaluation, episodeId })
      .then((tokens) => wanted && setKnown({ key, tokens }))
      .catch((cause) => wanted && report(cause));
    return () => {
      wanted = false;
    };
  }, [api, report, connection, runId, evaluation, episodeId, asked, key]);
  return known?.key === key ? known.tokens : null;
}
