import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { useStore } from 'zustand';
import { sampleRunId } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import type { RunSeries } from '../charts/run-series.ts';
import { useSample } from '../stores/use-sample.ts';
import { createRunStore, followRun, type RunState, type RunStore } from './run-store.ts';

const RunContext = createContext<RunStore | null>(null);

/** Provides a run's data to the pages inside. Must have the run's id as its key. */
export function RunView({ runId, children }: { runId: string; children: ReactNode }) {
  const api = useApi();
  const [store] = useState(() => createRunStore(runId));
  useSample(runId === sampleRunId);
  useEffect(() => followRun(api, store), [api, store]);
  return <RunContext value={store}>{children}</RunContext>;
}

/** Selects from the data of the enclosing RunView. */
export function useRun<T>(select: (state: RunState) => T): T {
  const store = useContext(RunContext);
  if (!store) throw new Error('No run: render this inside a RunView.');
  return useStore(store, select);
}

/** Returns the metric series of the enclosing RunView. Renders again after every change. */
export function useSeries(): RunSeries {
  const series = useRun((state) => state.series);
  useSyncExternalStore(series.subscribe, () => series.version);
  return series;
}
