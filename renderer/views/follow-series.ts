import type { Api } from '../api/api.ts';
import type { RunSeries } from '../charts/run-series.ts';
import { createCatchUp } from '../stores/catch-up.ts';
import { askSeries } from './ask-series.ts';

/** Keeps the series of a run in step with core until the returned function is called. What can't be had stays as it was. `loaded`: called whenever all of it has come. */
export function followSeries(
  api: Api,
  runId: string,
  series: RunSeries,
  loaded: () => void = () => {},
): () => void {
  const catchUp = createCatchUp();
  let followed = true;
  const ask = () => askSeries(api, runId);
  const take = (put: Awaited<ReturnType<typeof ask>>) => {
    if (!followed) return;
    put(series);
    loaded();
  };
  const stops = [
    api.on('metrics', (notice) => catchUp.notice(() => series.apply(notice)), runId),
    api.onState((state) => {
      if (state === 'open') catchUp.snapshot(ask, take).catch(() => {});
    }),
  ];
  return () => {
    followed = false;
    for (const stop of stops) stop();
  };
}
