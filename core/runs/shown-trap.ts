import type { Advice, EchoTrap } from '../contract/contract.ts';
import { checkpointsOf } from './checkpoints.ts';

/** What was judged of a run, with advice marked that would do nothing as things are. `active`: whether a trainer is at work on the run, or paused. */
export function asThingsAre(trap: EchoTrap, folder: string, active: boolean): EchoTrap {
  if (trap.advice.length === 0) return trap;
  const [oldest] = checkpointsOf(folder);
  const reasonOf = ({ action }: Advice): string | null => {
    if (action.kind === 'command') return active ? null : "The run isn't being trained.";
    if (oldest !== undefined && oldest <= action.notAfter) return null;
    return `There is no checkpoint of iteration ${action.notAfter} or before.`;
  };
  const advice = trap.advice.map((each) => {
    const reason = each.acts ? reasonOf(each) : each.reason;
    return { ...each, acts: reason === null, reason, preferred: each.preferred && reason === null };
  });
  return { ...trap, advice };
}
