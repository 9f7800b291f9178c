import { useEffect } from 'react';
import type { PresetCard } from '../../../core/contract/contract.ts';
import { isConnectionLost } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/** Returns the presets with time estimates, refreshed when the page opens; null while loading. */
export function usePresets(): PresetCard[] | null {
  const api = useApi();
  const report = useApp((state) => state.report);
  const open = useApp((state) => state.connection === 'open');
  useEffect(() => {
    if (!open) return;
    api.call('presets.list', {}).then(
      (presets) => useApp.setState({ presets }),
      (cause) => !isConnectionLost(cause) && report(cause),
    );
  }, [api, open, report]);
  return useApp((state) => state.presets);
}
