import { useCallback, useState } from 'react';
import { isConnectionLost } from '../api/api.ts';
import { useApp } from '../stores/app-store.ts';

/** Runs an async action with a busy flag and reports its errors. */
export function useAction(): [boolean, (work: () => Promise<unknown>) => void] {
  const report = useApp((state) => state.report);
  const [busy, setBusy] = useState(false);
  const perform = useCallback(
    (work: () => Promise<unknown>) => {
      setBusy(true);
      work()
        .catch((cause) => !isConnectionLost(cause) && report(cause))
        .finally(() => setBusy(false));
    },
    [report],
  );
  return [busy, perform];
}
