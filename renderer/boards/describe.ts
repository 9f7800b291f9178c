import type { Frame, Replay } from '../../core/contract/contract.ts';
import { signed } from '../components/format.ts';
import { type Cell, type Lake, parseLake } from './lake.ts';
import { groundAt, isStored, lostBox, parseRoom, type Room, roomMoveAt, sameCell } from './sokoban.ts';

export type Outcome = 'still' | 'move' | 'slip' | 'bump' | 'fall' | 'goal' | 'solved' | 'payout' | 'nothing';

/** What a frame shows, for colours and words alike. */
export function outcome(frame: Frame): Outcome {
  if (frame.action === null) return 'still';
  if (frame.board === null) return frame.reward > 0 ? 'payout' : 'nothing';
  const standing = parseLake(frame.board)?.standing;
  if (standing === 'goal') return 'goal';
  if (standing === 'hole') return 'fall';
  if (frame.success) return 'solved';
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
  solved: 'pushed the last box onto its target',
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
  return `${placeOf(frame)}: ${frame.action}, ${slip}${(kind === 'move' && pushWords(frames, index)) || words[kind]}`;
}

/** What became of the box that a move pushed, if there was one. */
function pushWords(frames: readonly Frame[], index: number): string | null {
  const move = roomMoveAt(frames, index);
  if (!move?.box) return null;
  if (frames[index]?.deadEnd && !frames[index - 1]?.deadEnd) return 'pushed a box into a dead end';
  if (move.change === 'stored') return 'pushed a box onto a target';
  return move.change === 'unstored' ? 'pushed a box off its target' : 'pushed a box';
}

/** `Turn 2, action 1`. */
export function placeOf({ turn, step }: Frame): string {
  return `Turn ${turn + 1}, action ${step + 1}`;
}

/** The board in words, for those who don't see it. */
export function describeBoard(replay: Replay, index: number): string {
  const frame = replay.frames[index];
  if (!frame) return '';
  const head = `${describeFrame(replay.frames, index)}.`;
  const lake = frame.board === null ? null : parseLake(frame.board);
  if (lake) return `${head} ${describeLake(lake)}`;
  const room = frame.board === null ? null : parseRoom(frame.board);
  if (room) return `${head} ${describeRoom(room, lostBox(replay.frames, index))}`;
  const arms = replay.arms?.join(' and ') ?? 'two arms';
  return `${head} Arms: ${arms}. Reward ${signed(frame.reward)}.`;
}

const place = (cell: Cell) => `row ${cell.row + 1}, column ${cell.column + 1}`;
const places = (cells: readonly Cell[]) => cells.map(place).join('; ');

/** The cells of one kind on a board given row by row. */
function cellsOf<Kind>(kinds: readonly Kind[], columns: number, kind: Kind): Cell[] {
  return kinds.flatMap((each, at) =>
    each === kind ? [{ row: Math.floor(at / columns), column: at % columns }] : [],
  );
}

function describeLake(lake: Lake): string {
  const holes = cellsOf(lake.tiles, lake.columns, 'hole');
  return [
    `Board of ${lake.rows} by ${lake.columns}.`,
    lake.agent ? `Agent at ${place(lake.agent)}.` : '',
    `Goal at ${places(cellsOf(lake.tiles, lake.columns, 'goal')) || 'no cell'}.`,
    holes.length > 0 ? `Holes at ${places(holes)}.` : 'No holes.',
  ].join(' ');
}

function describeRoom(room: Room, lost: Cell | null): string {
  const stored = room.boxes.filter((box) => isStored(room, box));
  const loose = room.boxes.filter((box) => !isStored(room, box));
  const open = cellsOf(room.ground, room.columns, 'target').filter(
    (target) => !stored.some((box) => sameCell(box, target)),
  );
  const onTarget = room.agent && groundAt(room, room.agent) === 'target' ? ', on a target' : '';
  return [
    `Room of ${room.rows} by ${room.columns}.`,
    ...(room.agent ? [`Agent at ${place(room.agent)}${onTarget}.`] : []),
    ...(loose.length > 0 ? [`Boxes at ${places(loose)}.`] : []),
    ...(stored.length > 0 ? [`Boxes on targets at ${places(stored)}.`] : []),
    ...(lost ? [`The box at ${place(lost)} can't reach a target any more.`] : []),
    open.length > 0 ? `Targets without a box at ${places(open)}.` : 'No target without a box.',
  ].join(' ');
}
