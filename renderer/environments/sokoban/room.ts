import type { Frame } from '../../../core/contract/contract.ts';
import {
  type Cell,
  cellsOf,
  cellsText,
  cellText,
  type Move,
  type MoveFrame,
  moveAt,
  parseGrid,
  sameCell,
} from '../grid.ts';

export type Ground = 'wall' | 'floor' | 'target';

export interface Room {
  rows: number;
  columns: number;
  /** Row by row. */
  ground: Ground[];
  boxes: Cell[];
  agent: Cell | null;
}

const groundOf: Record<string, Ground> = {
  '#': 'wall',
  _: 'floor',
  O: 'target',
  '√': 'target',
  X: 'floor',
  P: 'floor',
  S: 'target',
};

/**
 * Parses Sokoban's text grid: `#` wall, `_` floor, `O` target, `√` box on a target, `X` box, `P` agent, `S`
 * agent on a target. Returns null for anything else and for grids without walls.
 */
export function parseRoom(board: string): Room | null {
  const grid = parseGrid(board);
  if (!grid || !board.includes('#')) return null;
  const { symbols, columns } = grid;
  const room: Room = { rows: symbols.length, columns, ground: [], boxes: [], agent: null };
  for (const [row, line] of symbols.entries()) {
    for (const [column, symbol] of line.entries()) {
      const ground = groundOf[symbol];
      if (!ground) return null;
      room.ground.push(ground);
      if (symbol === 'X' || symbol === '√') room.boxes.push({ row, column });
      if (symbol === 'P' || symbol === 'S') room.agent = { row, column };
    }
  }
  return room;
}

function groundAt(room: Room, cell: Cell): Ground {
  return room.ground[cell.row * room.columns + cell.column] ?? 'wall';
}

export const isStored = (room: Room, box: Cell) => groundAt(room, box) === 'target';

export const roomAgent = (board: string): Cell | null => parseRoom(board)?.agent ?? null;

/** The move to a frame: the agent's, and that of the pushed box. */
export interface RoomMove {
  agent: Move;
  box: Move | null;
  /** Set if the push moved the box onto or off a target. */
  change: 'stored' | 'unstored' | null;
}

/** Returns null for the first frame or an invalid board. */
export function roomMoveAt(frames: readonly MoveFrame[], index: number): RoomMove | null {
  const agent = moveAt(frames, index, roomAgent);
  const before = agent && parseRoom(frames[index - 1]!.board!);
  const after = agent && parseRoom(frames[index]!.board!);
  if (!before || !after) return null;
  const from = before.boxes.find((box) => !after.boxes.some((other) => sameCell(box, other)));
  const to = after.boxes.find((box) => !before.boxes.some((other) => sameCell(box, other)));
  if (!from || !to) return { agent, box: null, change: null };
  const was = isStored(before, from);
  const is = isStored(after, to);
  return {
    agent,
    box: { from, to, intent: agent.intent, slipped: false },
    change: was === is ? null : is ? 'stored' : 'unstored',
  };
}

/**
 * Returns the current cell of the box that was pushed into a dead end up to frame `index`, or null. It may have been
 * pushed further.
 */
export function lostBox(frames: readonly Frame[], index: number): Cell | null {
  const first = frames.findIndex(({ deadEnd }) => deadEnd);
  if (first < 0 || first > index) return null;
  let box = roomMoveAt(frames, first)?.box?.to ?? null;
  for (let at = first + 1; box && at <= index; at++) {
    const pushed = roomMoveAt(frames, at)?.box;
    if (pushed && sameCell(pushed.from, box)) box = pushed.to;
  }
  return box;
}

export function describeRoom(room: Room, lost: Cell | null): string {
  const stored = room.boxes.filter((box) => isStored(room, box));
  const loose = room.boxes.filter((box) => !isStored(room, box));
  const open = cellsOf(room.ground, room.columns, 'target').filter(
    (target) => !stored.some((box) => sameCell(box, target)),
  );
  const onTarget = room.agent && groundAt(room, room.agent) === 'target' ? ', on a target' : '';
  return [
    `Room of ${room.rows} by ${room.columns}.`,
    ...(room.agent ? [`Agent at ${cellText(room.agent)}${onTarget}.`] : []),
    ...(loose.length > 0 ? [`Boxes at ${cellsText(loose)}.`] : []),
    ...(stored.length > 0 ? [`Boxes on targets at ${cellsText(stored)}.`] : []),
    ...(lost ? [`The box at ${cellText(lost)} can no longer reach a target.`] : []),
    open.length > 0 ? `Targets without a box at ${cellsText(open)}.` : 'Every target has a box.',
  ].join(' ');
}
