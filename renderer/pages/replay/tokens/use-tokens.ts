import type { EpisodeTokens } from '../../../../core/contract/contract.ts';
import { useReported } from '../../../stores/use-query.ts';
import { useRun } from '../../../views/run-view.tsx';

/** Loads an episode's sampled tokens if `enabled`. Returns null while loading. */
export function useTokens(evaluation: string | null, episodeId: string, enabled: boolean): EpisodeTokens | null {
  const runId = useRun((state) => state.runId);
  return useReported('rollouts.tokens', enabled ? { runId, evaluation, episodeId } : null);
}
