import { useEffect, useMemo, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { RunSeries } from '../charts/run-series.ts';
import { useApp } from '../stores/app-store.ts';
import { followSeries } from './follow-series.ts';

export interface Parent {
  id: string;
  name: string;
  /** The last iteration that both runs share. */
  iteration: number;
  series: RunSeries;
}

/** Returns the checkpoint that a run was forked from; null for other runs, including copies of a configuration. */
export function originOf(parent: RunSummary['parent']): Origin | null {
  return parent && parent.iteration !== null ? { run: parent.run, iteration: parent.iteration } : null;
}

interface Origin {
  run: string;
  /** Iteration of the checkpoint. */
  iteration: number;
}

/** Returns the parent of a fork with its series; null if there is none or it was deleted. */
export function useParent({ parent }: RunSummary): Parent | null {
  const api = useApi();
  const origin = originOf(parent);
  const id = origin?.run;
  // Select only what charts need: summaries of live runs change several times per second, and each change
  // would rebuild the charts.
  const name = useApp(({ runs }) => runs?.find((each) => each.id === id)?.name);
  const exists = name !== undefined;
  const [series, setSeries] = useState<RunSeries | null>(null);
  useEffect(() => {
    if (!id || !exists) return;
    const parentSeries = new RunSeries();
    setSeries(parentSeries);
    return followSeries(api, id, parentSeries);
  }, [api, id, exists]);
  const iteration = origin?.iteration ?? 0;
  return useMemo(
    () => (id && name !== undefined && series ? { id, name, iteration, series } : null),
    [id, name, iteration, series],
  );
}

/** Returns the run's forks, oldest first. */
export function useForks(runId: string): RunSummary[] {
  const runs = useApp((state) => state.runs);
  return useMemo(
    () =>
      (runs ?? [])
        .filter(({ parent }) => originOf(parent)?.run === runId)
        .toSorted((a, b) => a.createdAt - b.createdAt),
    [runs, runId],
  );
}
