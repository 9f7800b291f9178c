import { useEffect, useState } from 'react';
import type { Input, NoticeName, Output, ProcedureName } from '../../core/contract/contract.ts';
import { isConnectionLost } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { useApp } from './app-store.ts';

const report = (cause: unknown) => useApp.getState().report(cause);

/**
 * Returns the result of a method, and requests it again after a notice or a reconnection; null while loading. Errors are reported, or passed to
 * `onError`, which must not change between renders.
 */
export function useFollowed<P extends ProcedureName>(
  name: P,
  input: Input<P>,
  notice: NoticeName,
  onError: (cause: unknown) => void = report,
): Output<P> | null {
  const api = useApi();
  const [result, setResult] = useState<{ key: string; value: Output<P> } | null>(null);
  const key = JSON.stringify(input);
  useEffect(() => {
    let active = true;
    const request = () =>
      void api.call(name, JSON.parse(key) as Input<P>).then(
        (value) => active && setResult({ key, value }),
        (cause) => active && !isConnectionLost(cause) && onError(cause),
      );
    const stops = [
      api.on(notice, request),
      api.onState((state) => {
        if (state === 'open') request();
      }),
    ];
    return () => {
      active = false;
      for (const stop of stops) stop();
    };
  }, [api, name, key, notice, onError]);
  return result?.key === key ? result.value : null;
}
