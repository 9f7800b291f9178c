import type { Advice, RunSummary } from '../../../../core/contract/contract.ts';
import { isLive } from '../../../../core/contract/run-facts.ts';
import type { RollBackAdvice } from '../../../stores/dialogs-store.ts';

/** Returns the id of the fork that continues a run after a roll-back, or null. */
export const successorOf = ({ lastAction }: Pick<RunSummary, 'lastAction'>): string | null =>
  lastAction?.kind === 'rollback' && lastAction.state === 'done' ? lastAction.fork : null;

/**
 * Returns the advice that has an effect and is possible in the run's status, preferred first. For example, a run that has ended can't be paused, and a run that was rolled back
 * is not rolled back again.
 */
export function possibleActions(run: Pick<RunSummary, 'status' | 'lastAction'>, advice: readonly Advice[]): Advice[] {
  const { status } = run;
  const possible = ({ acts, action }: Advice) => {
    if (!acts) return false;
    if (action.kind === 'rollback') return successorOf(run) === null;
    return isLive(status) && !(action.command === 'pause' && status === 'paused');
  };
  return advice.filter(possible).toSorted((a, b) => Number(b.preferred) - Number(a.preferred));
}

/** Returns the roll-back that the monitor prefers, or the first possible one. */
export const bestRollBack = (run: Pick<RunSummary, 'status' | 'lastAction'>, advice: readonly Advice[]) =>
  possibleActions(run, advice).find((each): each is RollBackAdvice => each.action.kind === 'rollback');

/** Returns the one action that the panel recommends: the monitor's preference, else the first possible one. */
export const recommended = (run: Pick<RunSummary, 'status' | 'lastAction'>, advice: readonly Advice[]) =>
  possibleActions(run, advice)[0];
