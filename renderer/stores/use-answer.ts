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
  const [known, setKnown] = useState<{
    question: string;
    value: Output<P> | null;
    error: ApiError | null;
  } | null>(null);
  useEffect(() => {
    if (question === null || !open) return;
    let wanted = true;
    const ask = () =>
      api.call(name, JSON.parse(question) as Input<P>).then(
        (value) => wanted && setKnown({ question, value, error: null }),
        (cause) => {
          if (wanted && !isConnectionLost(cause))
            setKnown({ question, value: null, error: asFailure(cause).toApiError() });
        },
      );
    const timer = setTimeout(ask, delay);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [api, name, question, delay, open]);
  return {
    value: known?.value ?? null,
    error: known?.error ?? null,
    fresh: question !== null && known?.question === question,
  };
}
