import { useEffect, useState } from 'react';
import type { ApiError, OwnEnvironment } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { isConnectionLost, onOpen } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';

interface Environments {
  /** Oldest first; null while loading or if they are unreadable. */
  list: OwnEnvironment[] | null;
  problem: ApiError | null;
}

/** Returns the environments that the user has added, updated after changes in any window. */
export function useEnvironments(): Environments {
  const api = useApi();
  const [state, setState] = useState<Environments>({ list: null, problem: null });
  useEffect(() => {
    let active = true;
    const show = (list: OwnEnvironment[]) => active && setState({ list, problem: null });
    const fail = (cause: unknown) => {
      if (active && !isConnectionLost(cause)) setState({ list: null, problem: asFailure(cause).toApiError() });
    };
    const stops = [
      api.on('environments', ({ environments }) => void show(environments)),
      onOpen(api, () => api.call('environments.list', {}).then(show, fail)),
    ];
    return () => {
      active = false;
      for (const stop of stops) stop();
    };
  }, [api]);
  return state;
}
