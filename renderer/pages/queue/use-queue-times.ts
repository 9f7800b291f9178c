import { useEffect, useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { liveHere } from '../../components/run-facts.ts';
import { useApp } from '../../stores/app-store.ts';
import { startTimes } from './start-times.ts';

/** Returns the seconds until each queued run starts, next first; null if unknown. */
export function useQueueTimes(queued: readonly RunSummary[]): (number | null)[] {
  const api = useApi();
  const runs = useApp((state) => state.runs);
  const system = useApp((state) => state.system);
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
  const usable = system?.devices.filter(({ available }) => available) ?? [];
  return startTimes(queued, liveHere(runs, system), usable, durations);
}
