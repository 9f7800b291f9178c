import type { Api } from '../api/api.ts';
import type { RunSeries } from '../charts/run-series.ts';
import { createCatchUp } from '../stores/catch-up.ts';
import { askSeries } from './ask-series.ts';

/**
 * Keeps a run's series up to date until the returned function is called. `loaded` is called after each
 * complete load. Failed requests leave the series unchanged.
 */
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
