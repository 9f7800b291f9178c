import { useEffect } from 'react';
import type { Sample } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { useApp } from './app-store.ts';

/** Loads the sample run if `enabled`. Returns null while loading or if there is none. */
export function useSample(enabled: boolean): Sample | null {
  const api = useApi();
  const sample = useApp((state) => state.sample);
  const open = useApp((state) => state.connection === 'open');
  const missing = enabled && open && sample === null;
  useEffect(() => {
    if (!missing) return;
    // Ignore failures: the sample's own page reports them.
    api.call('sample.get', {}).then(
      (found) => useApp.setState({ sample: found }),
      () => {},
    );
  }, [api, missing]);
  return enabled ? sample : null;
}
