import { useEffect, useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/**
 * Returns the seconds until each queued run starts, next first, assuming that it starts when all runs before it
 * have ended. Null after the first run with an unknown duration, such as a paused one.
 */
export function useQueueTimes(queued: readonly RunSummary[]): (number | null)[] {
  const api = useApi();
  const runs = useApp((state) => state.runs);
  const live = runs?.filter(({ status }) => isLive(status)) ?? [];
  const [durations, setDurations] = useState<Record<string, number | null>>({});
  const unknown = queued.find(({ id }) => durations[id] === undefined)?.id;
  useEffect(() => {
    if (unknown === undefined) return;
    let active = true;
    api.call('configs.check', { run: unknown }).then(
      ({ time }) => active && setDurations((previous) => ({ ...previous, [unknown]: time?.seconds ?? null })),
      () => active && setDurations((previous) => ({ ...previous, [unknown]: null })),
    );
    return () => {
      active = false;
    };
  }, [api, unknown]);

  let at: number | null = live.reduce<number | null>(
    (latest, { etaSeconds }) => (latest === null || etaSeconds === null ? null : Math.max(latest, etaSeconds)),
    0,
  );
  return queued.map(({ id, iteration, iterations }) => {
    const start = at;
    const seconds = durations[id] ?? null;
    // A stopped run only trains its remaining iterations.
    at = at === null || seconds === null ? null : at + seconds * (1 - iteration / iterations);
    return start;
  });
}
