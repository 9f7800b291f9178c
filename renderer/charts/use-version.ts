import { useMemo, useSyncExternalStore } from 'react';
import type { SeriesSource } from './series-source.ts';
import type { Trace } from './traces.ts';

/** Returns the sources of the traces, without duplicates. */
export const sourcesOf = (traces: readonly Trace[]): SeriesSource[] => [...new Set(traces.map(({ source }) => source))];

/** Returns a computed value, updated after every change of the traces while `follows` is true. */
export function useVersion<T>(traces: readonly Trace[], follows: boolean, compute: () => T): T {
  const sources = useMemo(() => sourcesOf(traces), [traces]);
  const subscribe = useMemo(
    () => (listener: () => void) => {
      if (!follows) return () => {};
      const stops = sources.map((source) => source.subscribe(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [sources, follows],
  );
  useSyncExternalStore(subscribe, () => sources.reduce((sum, { version }) => sum + version, 0));
  return compute();
}
