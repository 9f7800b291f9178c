import { useEffect, useMemo, useState } from 'react';
import type { DiskUse } from '../../../core/contract/contract.ts';
import { onOpen } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';

/** Delay of a request after a change, in ms. */
const requestDelay = 1000;

export interface Sizes {
  /** Disk use; null until measured. */
  use: DiskUse | null;
  runs: ReadonlyMap<string, DiskUse['runs'][number]>;
}

/** Returns the disk use per run, updated when files change. */
export function useSizes(): Sizes {
  const api = useApi();
  const [use, setUse] = useState<DiskUse | null>(null);
  useEffect(() => {
    let active = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Ignore failures: the next change triggers another request.
    const request = () =>
      void api.call('runs.sizes', {}).then(
        (answer) => active && setUse(answer),
        () => {},
      );
    const requestLater = () => {
      clearTimeout(timer);
      timer = setTimeout(request, requestDelay);
    };
    const stops = [
      ...(['storage', 'removed', 'trash', 'checkpoints'] as const).map((name) => api.on(name, requestLater)),
      onOpen(api, request),
    ];
    return () => {
      active = false;
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [api]);
  const runs = useMemo(() => new Map(use?.runs.map((each) => [each.runId, each])), [use]);
  return { use, runs };
}
