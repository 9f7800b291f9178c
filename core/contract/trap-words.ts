import type { Alert } from './contract.ts';
import type { TrapIndicator, TrapLevel, TrapState, TrapVerdict } from './echo-trap.ts';
import { count } from './numbers.ts';
import { knownWord, type OpenWord } from './open-words.ts';

/** Names of the monitor's states, and what a roll-back costs. */

export const stateTitles: Record<TrapVerdict, string> = {
  healthy: 'Healthy',
  solved: 'Solved',
  watch: 'Early signals',
  narrowing: 'Losing variety',
  locked: 'Stopped learning',
  warning: 'Collapse is near',
  collapsing: 'Collapsing',
  collapsed: 'Collapsed',
  unmeasured: 'Not measured',
};

export const indicatorTitles: Record<TrapIndicator['name'], string> = {
  reward_std: 'Reward std (in-group)',
  entropy: 'Entropy',
  gradient: 'Gradient norm',
  diversity: 'Template reasoning',
  format: 'Response format',
  success: 'Success',
};

/** States of the monitor that warn of a collapse, the least severe first. */
export const alarmStates: readonly string[] = ['warning', 'collapsing', 'collapsed'] satisfies TrapVerdict[];

/** Returns whether a state warns of a collapse. Unknown states do not. */
export const isAlarm = (state: string): boolean => alarmStates.includes(state);

/** Returns the display name of a state or level. An unknown value is returned unchanged. */
export const stateTitle = (state: OpenWord<TrapVerdict | TrapLevel>): string => knownWord(stateTitles, state) ?? state;

/** Returns the state that an alert of the monitor reported. */
export const stateOfAlert = ({ kind, level }: Pick<Alert, 'kind' | 'level'>): OpenWord<TrapState> =>
  kind === 'echo_trap_narrowing' || kind === 'echo_trap_locked' ? kind.slice('echo_trap_'.length) : (level ?? 'watch');

export const rollBackLabel = (checkpoint: number) => `Roll back to iteration ${checkpoint}`;

/** Returns what a roll-back from `iteration` to a checkpoint loses: `loses 12 iterations`. */
export function lossText(checkpoint: number, iteration: number): string {
  const lost = Math.max(0, iteration - checkpoint);
  if (lost === 0) return 'loses no iterations';
  return `loses ${checkpoint === 0 ? 'all ' : ''}${count(lost, 'iteration')}`;
}
