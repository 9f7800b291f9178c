import type { Frame, Replay } from '../../core/contract/contract.ts';
import type { Outcome } from './environment.ts';
import { environmentOf } from './registry.ts';

const still: Outcome = { tone: 'idle', words: 'no action' };

/** Returns the outcome of a frame's action, for colours and text. */
export function outcomeAt({ type, frames }: Replay, index: number): Outcome {
  const hasAction = frames[index]?.action != null;
  return hasAction ? environmentOf(type).outcome(frames, index) : still;
}

/**
 * One line, such as `Turn 2, action 1: Right, slipped`. The first frame is the start; others without an
 * action are turns without one.
 */
export function describeFrame(replay: Replay, index: number): string {
  const frame = replay.frames[index];
  if (!frame || index === 0) return 'Start';
  const { words } = outcomeAt(replay, index);
  if (frame.action === null) return `Turn ${frame.turn + 1}: ${words}`;
  return `${placeOf(frame)}: ${[frame.action, words, ...frame.facts.map(wordsOf)].join(', ')}`;
}

/** Formats a fact for display. */
export const wordsOf = (fact: string) => fact.replaceAll('_', ' ');

/** `Turn 2, action 1`. */
export function placeOf({ turn, step }: Frame): string {
  return `Turn ${turn + 1}, action ${step + 1}`;
}

/** Text alternative of a frame: the event and the board. */
export function describeBoard(replay: Replay, index: number): string {
  if (!replay.frames[index]) return '';
  return `${describeFrame(replay, index)}. ${environmentOf(replay.type).describe(replay, index)}`;
}
