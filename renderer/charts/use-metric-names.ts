import { useMemo, useSyncExternalStore } from 'react';
import type { SeriesSource } from './series-source.ts';

/** Returns the metric names of all sources, one per line. They change a few times per run; values change all the time. */
export function useMetricNames(sources: readonly SeriesSource[]): string {
  const subscribe = useMemo(
    () => (listener: () => void) => {
      const stops = sources.map((source) => source.subscribe(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [sources],
  );
  return useSyncExternalStore(subscribe, () =>
    [...new Set(sources.flatMap((source) => source.names()))].sort().join('\n'),
  );
}
