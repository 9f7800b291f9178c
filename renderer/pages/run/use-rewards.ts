import { useEffect, useState } from 'react';
import type { RewardHistogram } from '../../../core/contract/contract.ts';
import { isConnectionLost } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';

/** Indexing of episodes sends no notice, so the rewards are requested again: delay in ms, and maximum number of requests. */
const indexingDelay = 3000;
const maxRequests = 20;

/** Returns the rewards of the stored training episodes; null while loading. Follows new rollouts. */
export function useRewards(runId: string): RewardHistogram | null {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const newest = useRun((state) => state.rollouts.find(({ split }) => split === 'train')?.iteration ?? null);
  const [rewards, setRewards] = useState<RewardHistogram | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new rollout changes the result.
  useEffect(() => {
    if (!open) return;
    let active = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const request = (left: number) =>
      void api.call('rollouts.rewards', { runId }).then(
        (found) => {
          if (!active) return;
          setRewards(found);
          if (found.pending > 0 && left > 0) timer = setTimeout(request, indexingDelay, left - 1);
        },
        (cause) => active && !isConnectionLost(cause) && useApp.getState().report(cause),
      );
    request(maxRequests);
    return () => {
      active = false;
      clearTimeout(timer);
    };
  }, [api, open, runId, newest]);
  return rewards;
}
