import { useEffect, useMemo, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { RunSeries } from '../charts/run-series.ts';
import { useApp } from '../stores/app-store.ts';
import { followSeries } from './follow-series.ts';

export interface Parent {
  run: RunSummary;
  /** The last iteration that both have. */
  iteration: number;
  series: RunSeries;
}

/** The run that this one went on from a checkpoint of; null where there is none, or it is gone. */
export function useParent({ parent }: RunSummary): Parent | null {
  const api = useApi();
  const id = parent && parent.iteration > 0 ? parent.run : null;
  const run = useApp(({ runs }) => runs?.find((each) => each.id === id));
  const there = run !== undefined;
  const [series, setSeries] = useState<RunSeries | null>(null);
  useEffect(() => {
    if (!id || !there) return;
    const own = new RunSeries();
    setSeries(own);
    return followSeries(api, id, own);
  }, [api, id, there]);
  const iteration = parent?.iteration ?? 0;
  return useMemo(() => (run && series ? { run, iteration, series } : null), [run, iteration, series]);
}

/** Runs that went on from a checkpoint of this one, oldest first. */
export function useForks(runId: string): RunSummary[] {
  const runs = useApp((state) => state.runs);
  return useMemo(
    () =>
      (runs ?? [])
        .filter(({ parent }) => parent?.run === runId && parent.iteration > 0)
        .toSorted((a, b) => a.createdAt - b.createdAt),
    [runs, runId],
  );
}
