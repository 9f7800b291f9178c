import { useEffect, useState } from 'react';
import type { ApiError, Input, Output, ProcedureName } from '../../core/contract/contract.ts';
import { asFailure } from '../../core/contract/failure.ts';
import { isConnectionLost } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { useApp } from './app-store.ts';

export interface Answer<T> {
  /** The latest answer; kept while a newer one is pending. */
  value: T | null;
  error: ApiError | null;
  /** Whether it answers the latest question. */
  fresh: boolean;
}

/** Calls a method with debounced input: after `delay` ms without a change, and again after a reconnection. `input: null`
 * makes no call.
 */
export function useAnswer<P extends ProcedureName>(
  name: P,
  input: Input<P> | null,
  delay: number,
): Answer<Output<P>> {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const question = input === null ? null : JSON.stringify(input);
  const [last, setLast] = useState<{
    question: string;
    value: Output<P> | null;
    error: ApiError | null;
  } | null>(null);
  useEffect(() => {
    if (question === null || !open) return;
    let active = true;
    const ask = () =>
      api.call(name, JSON.parse(question) as Input<P>).then(
        (value) => active && setLast({ question, value, error: null }),
        (cause) => {
          if (active && !isConnectionLost(cause))
            setLast({ question, value: null, error: asFailure(cause).toApiError() });
        },
      );
    const timer = setTimeout(ask, delay);
    return () => {
      active = false;
      clearTimeout(timer);
    };
  }, [api, name, question, delay, open]);
  return {
    value: last?.value ?? null,
    error: last?.error ?? null,
    fresh: question !== null && last?.question === question,
  };
}
