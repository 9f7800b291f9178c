import { useEffect, useMemo, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { RunSeries } from '../charts/run-series.ts';
import { useApp } from '../stores/app-store.ts';
import { followSeries } from './follow-series.ts';

export interface Parent {
  id: string;
  name: string;
  /** The last iteration that both have. */
  iteration: number;
  series: RunSeries;
}

/** Where a run went on from; null for one that has a start of its own, as a copy of another's configuration has. */
export function originOf(parent: RunSummary['parent']): Origin | null {
  return parent && parent.iteration !== null ? { run: parent.run, iteration: parent.iteration } : null;
}

interface Origin {
  run: string;
  /** Of the checkpoint. */
  iteration: number;
}

/** The run that this one went on from a checkpoint of; null where there is none, or it is gone. */
export function useParent({ parent }: RunSummary): Parent | null {
  const api = useApi();
  const origin = originOf(parent);
  const id = origin?.run;
  // No more of it than this: a run that trains is told of several times a second, and charts are made anew of what is here.
  const name = useApp(({ runs }) => runs?.find((each) => each.id === id)?.name);
  const there = name !== undefined;
  const [series, setSeries] = useState<RunSeries | null>(null);
  useEffect(() => {
    if (!id || !there) return;
    const own = new RunSeries();
    setSeries(own);
    return followSeries(api, id, own);
  }, [api, id, there]);
  const iteration = origin?.iteration ?? 0;
  return useMemo(
    () => (id && name !== undefined && series ? { id, name, iteration, series } : null),
    [id, name, iteration, series],
  );
}

/** Runs that went on from a checkpoint of this one, oldest first. */
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
