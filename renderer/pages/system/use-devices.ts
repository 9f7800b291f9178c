import { useEffect, useState } from 'react';
import type { Output } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';

/** Returns the devices of the queue, the CPU first. There are none until they are read, or if the trainer is missing, which the checks report. */
export function useDevices(): Output<'devices.list'> {
  const api = useApi();
  const connected = useApp(({ connection }) => connection === 'open');
  const [state, setState] = useState<Output<'devices.list'>>({ devices: [], share: false });
  useEffect(() => {
    if (!connected) return;
    let active = true;
    const load = () =>
      void api.call('devices.list', {}).then(
        (list) => active && setState(list),
        () => {},
      );
    load();
    const stop = api.on('devices', load);
    return () => {
      active = false;
      stop();
    };
  }, [api, connected]);
  return state;
}
