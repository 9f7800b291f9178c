import type { Refusal } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import { useApp } from '../stores/app-store.ts';

/** Reports the error of every rejected run. */
export function reportRefusals(refused: readonly Refusal[]): void {
  for (const { error } of refused) useApp.getState().report(new Failure(error.code, error.message, error.hint));
}
