import type { Refusal } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import { useApp } from '../stores/app-store.ts';

/** Reports why an action failed, for each refused run. */
export function reportRefused(refused: readonly Refusal[]): void {
  for (const { error } of refused)
    useApp.getState().report(new Failure(error.code, error.message, error.hint));
}
