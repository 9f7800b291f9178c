import { type Api, onOpen } from '../api/api.ts';
import type { RunSeries } from '../charts/run-series.ts';
import { createCatchUp } from '../stores/catch-up.ts';
import { loadSeries } from './load-series.ts';

/**
 * Keeps a run's series up to date until the returned function is called. Calls `onLoad` after each complete
 * load. Failed requests leave the series unchanged.
 */
export function followSeries(api: Api, runId: string, series: RunSeries, onLoad: () => void = () => {}): () => void {
  const catchUp = createCatchUp();
  let followed = true;
  const request = () => loadSeries(api, runId);
  const apply = (putInto: Awaited<ReturnType<typeof request>>) => {
    if (!followed) return;
    putInto(series);
    onLoad();
  };
  const stops = [
    api.on('metrics', (notice) => catchUp.notice(() => series.apply(notice)), runId),
    onOpen(api, () => {
      catchUp.snapshot(request, apply).catch(() => {});
    }),
  ];
  return () => {
    followed = false;
    for (const stop of stops) stop();
  };
}
