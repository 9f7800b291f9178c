import { useEffect, useMemo, useState } from 'react';
import { createStore, type StoreApi, useStore } from 'zustand';
import type { Alert } from '../../core/contract/contract.ts';
import { type Api, isConnectionLost, onOpen } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { RunSeries } from '../charts/run-series.ts';
import { createCatchUp } from '../stores/catch-up.ts';
import { followSeries } from './follow-series.ts';

export interface ComparedRun {
  id: string;
  series: RunSeries;
  /** False until the series and the configuration are loaded. */
  loaded: boolean;
  config: unknown;
  alerts: Alert[];
}

type ComparedStore = StoreApi<{ runs: ReadonlyMap<string, ComparedRun> }>;

/** Returns the data of the runs in the given order, and keeps it up to date. */
export function useComparedRuns(runIds: readonly string[]): ComparedRun[] {
  const api = useApi();
  const [store] = useState<ComparedStore>(() => createStore(() => ({ runs: new Map() })));
  const [followed] = useState(() => new Map<string, () => void>());
  const key = runIds.join(',');
  useEffect(() => {
    const ids = key === '' ? [] : key.split(',');
    for (const [id, stop] of followed) {
      if (ids.includes(id)) continue;
      stop();
      followed.delete(id);
    }
    for (const id of ids) if (!followed.has(id)) followed.set(id, follow(api, store, id));
  }, [api, store, followed, key]);
  useEffect(
    () => () => {
      for (const stop of followed.values()) stop();
      followed.clear();
    },
    [followed],
  );
  const runs = useStore(store, (state) => state.runs);
  return useMemo(() => key.split(',').flatMap((id) => runs.get(id) ?? []), [runs, key]);
}

/** Keeps a run of the store up to date until the returned function is called, which removes the run. */
function follow(api: Api, store: ComparedStore, id: string): () => void {
  const catchUp = createCatchUp();
  let received = { series: false, config: false };
  const put = (run: ComparedRun) => store.setState(({ runs }) => ({ runs: new Map(runs).set(id, run) }));
  const change = (changed: Partial<ComparedRun>) => {
    const run = store.getState().runs.get(id);
    if (run) put({ ...run, ...changed, loaded: received.series && received.config });
  };
  const series = new RunSeries();
  put({ id, series, loaded: false, config: null, alerts: [] });
  const request = () => Promise.all([api.call('runs.get', { runId: id }), api.call('alerts.list', { runId: id })]);
  const stops = [
    followSeries(api, id, series, () => {
      received = { ...received, series: true };
      change({});
    }),
    api.on('alerts', ({ alerts }) => catchUp.notice(() => change({ alerts })), id),
    onOpen(api, () => {
      catchUp
        .snapshot(request, ([{ config }, alerts]) => {
          received = { ...received, config: true };
          change({ config, alerts });
        })
        .catch((cause) => {
          if (isConnectionLost(cause)) return;
          // A deleted run is missing from the list of runs too, which the page reports.
          received = { series: true, config: true };
          change({});
        });
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    store.setState(({ runs }) => ({ runs: new Map([...runs].filter(([each]) => each !== id)) }));
  };
}
