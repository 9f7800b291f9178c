import type { Api } from '../api/api.ts';
import type { RunSeries } from '../charts/run-series.ts';

/** Entries per metric of the first request, which is enough for any screen. */
const overviewResolution = 2048;

/** Requests a run's series. Returns a function that puts them into a store, which can then request finer ranges. */
export async function loadSeries(api: Api, runId: string): Promise<(series: RunSeries) => void> {
  const [all, times] = await Promise.all([
    api.call('runs.series', { runId, resolution: overviewResolution }),
    api.call('runs.times', { runId }),
  ]);
  return (series) =>
    series.load(all, times, (metric, after, upTo, resolution) =>
      api.call('runs.series', { runId, names: [metric], after, upTo, resolution }),
    );
}
