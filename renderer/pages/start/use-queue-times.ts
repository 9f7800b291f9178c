import { useEffect, useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/**
 * In how many seconds each of the runs that wait will start, next first: when the one that is trained has ended, and those before it. Null from the first on whose time isn't
 * known, as behind a paused run.
 */
export function useQueueTimes(waiting: readonly RunSummary[]): (number | null)[] {
  const api = useApi();
  const runs = useApp((state) => state.runs);
  const live = runs?.filter(({ status }) => isLive(status)) ?? [];
  const [lengths, setLengths] = useState<Record<string, number | null>>({});
  const unknown = waiting.find(({ id }) => lengths[id] === undefined)?.id;
  useEffect(() => {
    if (unknown === undefined) return;
    let wanted = true;
    api.call('configs.check', { run: unknown }).then(
      ({ time }) => wanted && setLengths((known) => ({ ...known, [unknown]: time?.seconds ?? null })),
      () => wanted && setLengths((known) => ({ ...known, [unknown]: null })),
    );
    return () => {
      wanted = false;
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
    // What a stopped run has done already needn't be done again.
    at = at === null || length === null ? null : at + length * (1 - iteration / iterations);
    return start;
  });
}
