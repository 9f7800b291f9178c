import { useEffect } from 'react';
import type { Sample } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { useApp } from './app-store.ts';

/** The sample run, asked for where it is wanted; null until it has come, and where there is none. */
export function useSample(wanted: boolean): Sample | null {
  const api = useApi();
  const sample = useApp((state) => state.sample);
  const open = useApp((state) => state.connection === 'open');
  const missing = wanted && open && sample === null;
  useEffect(() => {
    if (!missing) return;
    // Nobody misses it: a page that was opened at its address says itself what is wrong.
    api.call('sample.get', {}).then(
      (found) => useApp.setState({ sample: found }),
      () => {},
    );
  }, [api, missing]);
  return wanted ? sample : null;
}
