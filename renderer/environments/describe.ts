import type { Frame, Replay } from '../../core/contract/contract.ts';
import type { Outcome } from './environment.ts';
import { environmentOf } from './registry.ts';

const still: Outcome = { tone: 'idle', words: 'no action' };

/** What became of a frame's action, for colours and words alike. */
export function outcomeAt({ type, frames }: Replay, index: number): Outcome {
  const hasAction = frames[index]?.action != null;
  return hasAction ? environmentOf(type).outcome(frames, index) : still;
}

/** One line: `Turn 2, action 1: Right, slipped`. The first frame is the start; another without an action is a turn that had none. */
export function describeFrame(replay: Replay, index: number): string {
  const frame = replay.frames[index];
  if (!frame || index === 0) return 'Start';
  const { words } = outcomeAt(replay, index);
  return frame.action === null
    ? `Turn ${frame.turn + 1}: ${words}`
    : `${placeOf(frame)}: ${frame.action}, ${words}`;
}

/** `Turn 2, action 1`. */
export function placeOf({ turn, step }: Frame): string {
  return `Turn ${turn + 1}, action ${step + 1}`;
}

/** What happened and the board in words, for those who don't see it. */
export function describeBoard(replay: Replay, index: number): string {
  if (!replay.frames[index]) return '';
  return `${describeFrame(replay, index)}. ${environmentOf(replay.type).describe(replay, index)}`;
}
