import { useEffect, useMemo, useState } from 'react';
import type { DiskUse } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';

/** Changes that come together are asked about together (ms). */
const gathering = 1000;

export interface Sizes {
  /** By run; null until measured. */
  use: DiskUse | null;
  runs: ReadonlyMap<string, DiskUse['runs'][number]>;
}

/** What runs take on disk, measured anew when files come or go. */
export function useSizes(): Sizes {
  const api = useApi();
  const [use, setUse] = useState<DiskUse | null>(null);
  useEffect(() => {
    let shown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Nobody waits for it; what is missing is asked for with the next change.
    const ask = () =>
      void api.call('runs.sizes', {}).then(
        (answer) => shown && setUse(answer),
        () => {},
      );
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(ask, gathering);
    };
    const stops = [
      ...(['storage', 'removed', 'trash', 'checkpoints'] as const).map((name) => api.on(name, later)),
      api.onState((state) => {
        if (state === 'open') ask();
      }),
    ];
    return () => {
      shown = false;
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [api]);
  const runs = useMemo(() => new Map(use?.runs.map((each) => [each.runId, each])), [use]);
  return { use, runs };
}
