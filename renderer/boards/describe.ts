import type { Frame, Replay } from '../../core/api/contract.ts';
import { signed } from '../components/format.ts';
import { parseLake } from './lake.ts';

export type Outcome = 'still' | 'move' | 'slip' | 'bump' | 'fall' | 'goal' | 'payout' | 'nothing';

/** What a frame shows, for colours and words alike. */
export function outcome(frame: Frame): Outcome {
  if (frame.action === null) return 'still';
  if (frame.board === null) return frame.reward > 0 ? 'payout' : 'nothing';
  const standing = parseLake(frame.board)?.standing;
  if (standing === 'goal') return 'goal';
  if (standing === 'hole') return 'fall';
  if (frame.slipped) return 'slip';
  return frame.effective ? 'move' : 'bump';
}

const words: Record<Outcome, string> = {
  still: 'no action',
  move: 'moved',
  slip: 'slipped',
  bump: 'blocked',
  fall: 'fell into a hole',
  goal: 'reached the goal',
  payout: 'paid out',
  nothing: 'paid nothing',
};

/** One line: `Turn 2, action 1: Right, slipped`. The first frame is the start; another without an action is a turn that had none. */
export function describeFrame(frames: readonly Frame[], index: number): string {
  const frame = frames[index];
  if (!frame || index === 0) return 'Start';
  const kind = outcome(frame);
  if (kind === 'still') return `Turn ${frame.turn + 1}: no action`;
  const slip = frame.slipped && kind !== 'slip' ? 'slipped and ' : '';
  return `${placeOf(frame)}: ${frame.action}, ${slip}${words[kind]}`;
}

/** `Turn 2, action 1`. */
export function placeOf({ turn, step }: Frame): string {
  return `Turn ${turn + 1}, action ${step + 1}`;
}

/** The board in words, for those who don't see it. */
export function describeBoard(replay: Replay, index: number): string {
  const frame = replay.frames[index];
  if (!frame) return '';
  const lake = frame.board === null ? null : parseLake(frame.board);
  if (!lake) {
    const arms = replay.arms?.join(' and ') ?? 'two arms';
    return `${describeFrame(replay.frames, index)}. Arms: ${arms}. Reward ${signed(frame.reward)}.`;
  }
  const place = (cell: { row: number; column: number }) => `row ${cell.row + 1}, column ${cell.column + 1}`;
  const cells = (tile: string) =>
    lake.tiles.flatMap((kind, at) =>
      kind === tile ? [place({ row: Math.floor(at / lake.columns), column: at % lake.columns })] : [],
    );
  const holes = cells('hole');
  return [
    `${describeFrame(replay.frames, index)}.`,
    `Board of ${lake.rows} by ${lake.columns}.`,
    lake.agent ? `Agent at ${place(lake.agent)}.` : '',
    `Goal at ${cells('goal').join('; ') || 'no cell'}.`,
    holes.length > 0 ? `Holes at ${holes.join('; ')}.` : 'No holes.',
  ].join(' ');
}
