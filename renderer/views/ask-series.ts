import type { Api } from '../api/api.ts';
import type { RunSeries } from '../charts/run-series.ts';

/** Entries of each metric that are enough for a first picture, on any screen. */
const overview = 2048;

/** Asks core for a run's series; gives what puts them into a store, which asks for finer stretches by itself then. */
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
