import type { Frame, Replay } from '../../core/contract/contract.ts';
import type { Outcome } from './environment.ts';
import { environmentOf } from './registry.ts';

const noAction: Outcome = { tone: 'idle', text: 'no action' };

/** Returns the outcome of a frame's action, for colors and text. Call only for frames that have an action. */
export function outcomeAt({ type, frames }: Replay, index: number): Outcome {
  const hasAction = frames[index]?.action != null;
  return hasAction ? environmentOf(type).outcome(frames, index) : noAction;
}

/**
 * Describes a frame in one line, such as `Turn 2, action 1: Right, slipped`. The first frame is the start;
 * others without an action belong to a turn without one.
 */
export function describeFrame(replay: Replay, index: number): string {
  const frame = replay.frames[index];
  if (!frame || index === 0) return 'Start';
  const { text } = outcomeAt(replay, index);
  if (frame.action === null) return `Turn ${frame.turn + 1}: ${text}`;
  return `${turnAndAction(frame)}: ${[frame.action, text, ...frame.facts.map(factText)].join(', ')}`;
}

export const factText = (fact: string) => fact.replaceAll('_', ' ');

/** Returns the position of a frame: `Turn 2, action 1`. */
export function turnAndAction({ turn, step }: Frame): string {
  return `Turn ${turn + 1}, action ${step + 1}`;
}

/** Describes a frame: the event and the board. */
export function describeBoard(replay: Replay, index: number): string {
  if (!replay.frames[index]) return '';
  return `${describeFrame(replay, index)}. ${environmentOf(replay.type).describe(replay, index)}`;
}

/** Explains the letters of a text grid, such as `P player, O hole`; empty if the text isn't a grid of these letters. */
export function lettersIn(text: string, letters: Readonly<Record<string, string>> = {}): string {
  const lines = text.trim().split('\n');
  const isGrid =
    lines.length > 1 && lines.every((line) => [...line.trim()].every((letter) => letter === ' ' || letters[letter]));
  if (!isGrid) return '';
  return Object.entries(letters)
    .flatMap(([letter, meaning]) => (text.includes(letter) ? `${letter} ${meaning}` : []))
    .join(', ');
}
