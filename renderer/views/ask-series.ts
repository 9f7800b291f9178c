import type { Api } from '../api/api.ts';
import type { RunSeries } from '../charts/run-series.ts';

/** Entries per metric of the first request; enough for any screen. */
const overview = 2048;

/** Requests a run's series from the server. The result also lets the store request finer ranges. */
export async function askSeries(api: Api, runId: string): Promise<(series: RunSeries) => void> {
  const [all, times] = await Promise.all([
    api.call('runs.series', { runId, resolution: overview }),
    api.call('runs.times', { runId }),
  ]);
  return (series) =>
    series.load(all, times, (metric, after, upTo, resolution) =>
      api.call('runs.series', { runId, names: [metric], after, upTo, resolution }),
    );
}
