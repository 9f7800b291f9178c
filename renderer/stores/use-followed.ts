import { useEffect, useState } from 'react';
import type { Input, NoticeName, Output, ProcedureName } from '../../core/contract/contract.ts';
import { isConnectionLost, onOpen } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { useApp } from './app-store.ts';

const report = (cause: unknown) => useApp.getState().report(cause);

export interface Followed<T> {
  /** Null until it is loaded. */
  value: T | null;
  /** Whether the last request failed. */
  failed: boolean;
}

/**
 * Returns the result of a method, and requests it again after a notice or a reconnection. Errors are reported, or passed to `onError`,
 * which must not change between renders.
 */
export function useFollowed<P extends ProcedureName>(
  name: P,
  input: Input<P>,
  notice: NoticeName,
  onError: (cause: unknown) => void = report,
): Followed<Output<P>> {
  const api = useApi();
  const [result, setResult] = useState<{ key: string; value: Output<P> } | null>(null);
  const [failed, setFailed] = useState(false);
  const key = JSON.stringify(input);
  useEffect(() => {
    let active = true;
    const request = () =>
      void api.call(name, JSON.parse(key) as Input<P>).then(
        (value) => {
          if (!active) return;
          setResult({ key, value });
          setFailed(false);
        },
        (cause) => {
          if (!active || isConnectionLost(cause)) return;
          setFailed(true);
          onError(cause);
        },
      );
    const stops = [api.on(notice, request), onOpen(api, request)];
    return () => {
      active = false;
      for (const stop of stops) stop();
    };
  }, [api, name, key, notice, onError]);
  return { value: result?.key === key ? result.value : null, failed };
}
