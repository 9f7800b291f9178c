import { useEffect, useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/** Seconds until each queued run starts, next first, assuming that it starts when all runs before it end. Null after
 * the first run with an unknown duration, such as a paused one.
 */
export function useQueueTimes(waiting: readonly RunSummary[]): (number | null)[] {
  const api = useApi();
  const runs = useApp((state) => state.runs);
  const live = runs?.filter(({ status }) => isLive(status)) ?? [];
  const [lengths, setLengths] = useState<Record<string, number | null>>({});
  const unknown = waiting.find(({ id }) => lengths[id] === undefined)?.id;
  useEffect(() => {
    if (unknown === undefined) return;
    let active = true;
    api.call('configs.check', { run: unknown }).then(
      ({ time }) => active && setLengths((previous) => ({ ...previous, [unknown]: time?.seconds ?? null })),
      () => active && setLengths((previous) => ({ ...previous, [unknown]: null })),
    );
    return () => {
      active = false;
    };
  }, [api, unknown]);

  let at: number | null = live.reduce<number | null>(
    (latest, { etaSeconds }) =>
      latest === null || etaSeconds === null ? null : Math.max(latest, etaSeconds),
    0,
  );
  return waiting.map(({ id, iteration, iterations }) => {
    const start = at;
    const length = lengths[id] ?? null;
    // A stopped run only has its remaining iterations to do.
    at = at === null || length === null ? null : at + length * (1 - iteration / iterations);
    return start;
  });
}
