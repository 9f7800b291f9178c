import { useEffect, useMemo, useState } from 'react';
import { createStore, type StoreApi, useStore } from 'zustand';
import type { Alert } from '../../core/contract/contract.ts';
import { type Api, isConnectionLost } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { RunSeries } from '../charts/run-series.ts';
import { createCatchUp } from '../stores/catch-up.ts';
import { followSeries } from './follow-series.ts';

/** What a comparison knows of one of its runs. */
export interface ComparedRun {
  id: string;
  series: RunSeries;
  /** False until its values and its configuration have come. */
  loaded: boolean;
  config: unknown;
  alerts: Alert[];
}

type ComparedStore = StoreApi<{ runs: ReadonlyMap<string, ComparedRun> }>;

/** The runs that are compared, in the order in which they are asked for; each is followed as long as it is among them. */
export function useComparedRuns(runIds: readonly string[]): ComparedRun[] {
  const api = useApi();
  const [store] = useState<ComparedStore>(() => createStore(() => ({ runs: new Map() })));
  const [followed] = useState(() => new Map<string, () => void>());
  const wanted = runIds.join(',');
  useEffect(() => {
    const ids = wanted === '' ? [] : wanted.split(',');
    for (const [id, stop] of followed) {
      if (ids.includes(id)) continue;
      stop();
      followed.delete(id);
    }
    for (const id of ids) if (!followed.has(id)) followed.set(id, follow(api, store, id));
  }, [api, store, followed, wanted]);
  useEffect(
    () => () => {
      for (const stop of followed.values()) stop();
      followed.clear();
    },
    [followed],
  );
  const runs = useStore(store, (state) => state.runs);
  return useMemo(() => wanted.split(',').flatMap((id) => runs.get(id) ?? []), [runs, wanted]);
}

/** Keeps one run of the store in step with core until the returned function is called, and takes it out then. */
function follow(api: Api, store: ComparedStore, id: string): () => void {
  const catchUp = createCatchUp();
  let had = { series: false, config: false };
  const put = (run: ComparedRun) => store.setState(({ runs }) => ({ runs: new Map(runs).set(id, run) }));
  const change = (changed: Partial<ComparedRun>) => {
    const run = store.getState().runs.get(id);
    if (run) put({ ...run, ...changed, loaded: had.series && had.config });
  };
  const series = new RunSeries();
  put({ id, series, loaded: false, config: null, alerts: [] });
  const ask = () =>
    Promise.all([api.call('runs.get', { runId: id }), api.call('alerts.list', { runId: id })]);
  const stops = [
    followSeries(api, id, series, () => {
      had = { ...had, series: true };
      change({});
    }),
    api.on('alerts', ({ alerts }) => catchUp.notice(() => change({ alerts })), id),
    api.onState((state) => {
      if (state !== 'open') return;
      catchUp
        .snapshot(ask, ([{ config }, alerts]) => {
          had = { ...had, config: true };
          change({ config, alerts });
        })
        .catch((cause) => {
          if (isConnectionLost(cause)) return;
          // A run that is gone is missing from the list of runs too, where it is told; nothing waits for it.
          had = { series: true, config: true };
          change({});
        });
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    store.setState(({ runs }) => ({ runs: new Map([...runs].filter(([each]) => each !== id)) }));
  };
}
