import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ApiError, Input, Output, ProcedureName } from '../../core/contract/contract.ts';
import { asFailure, Failure } from '../../core/contract/failure.ts';
import { isConnectionLost } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { useApp } from './app-store.ts';

export interface QueryResult<T> {
  /** The latest result. It stays while a newer one is pending. */
  value: T | null;
  error: ApiError | null;
  /** True if it belongs to the latest input. */
  fresh: boolean;
  /** Makes the call again. */
  refresh: () => void;
}

/**
 * Calls a method with debounced input: after `delay` ms without a change, and again after a reconnection.
 * `input: null` makes no call. A new `revision` repeats the call.
 */
export function useQuery<P extends ProcedureName>(
  name: P,
  input: Input<P> | null,
  delay: number,
  revision = '',
): QueryResult<Output<P>> {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const key = input === null ? null : JSON.stringify(input);
  const [round, setRound] = useState(0);
  const [last, setLast] = useState<{
    key: string;
    value: Output<P> | null;
    error: ApiError | null;
  } | null>(null);
  // A new object repeats the call.
  const call = useMemo(() => (key === null ? null : { key, round, revision }), [key, round, revision]);
  useEffect(() => {
    if (call === null || !open) return;
    const { key } = call;
    let active = true;
    const request = () =>
      api.call(name, JSON.parse(key) as Input<P>).then(
        (value) => active && setLast({ key, value, error: null }),
        (cause) => {
          if (active && !isConnectionLost(cause)) setLast({ key, value: null, error: asFailure(cause).toApiError() });
        },
      );
    const timer = setTimeout(request, delay);
    return () => {
      active = false;
      clearTimeout(timer);
    };
  }, [api, name, call, delay, open]);
  return {
    value: last?.value ?? null,
    error: last?.error ?? null,
    fresh: key !== null && last?.key === key,
    refresh: useCallback(() => setRound((count) => count + 1), []),
  };
}

/** Returns the result of a call for the current input; null while loading and for `input: null`. Reports errors. */
export function useReported<P extends ProcedureName>(name: P, input: Input<P> | null): Output<P> | null {
  const { value, error, fresh } = useQuery(name, input, 0);
  const report = useApp((state) => state.report);
  useEffect(() => {
    if (error) report(new Failure(error.code, error.message, error.hint));
  }, [error, report]);
  return fresh ? value : null;
}
