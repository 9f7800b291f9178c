import type { Frame } from '../../core/contract/contract.ts';

/** Shared by environments on a grid of cells: parsing, moves and descriptions. */

export interface Cell {
  row: number;
  column: number;
}

export const sameCell = (a: Cell, b: Cell) => a.row === b.row && a.column === b.column;

/** Splits a text grid into symbols by row; null if rows differ in length. */
export function parseGrid(board: string): { symbols: string[][]; columns: number } | null {
  const symbols = board
    .trim()
    .split('\n')
    .map((line) => [...line.trim()]);
  const columns = symbols[0]?.length ?? 0;
  return columns > 0 && symbols.every((line) => line.length === columns) ? { symbols, columns } : null;
}

/** Returns the cells of one kind on a board given row by row. */
export function cellsOf<Kind>(kinds: readonly Kind[], columns: number, kind: Kind): Cell[] {
  return kinds.flatMap((each, at) => (each === kind ? [{ row: Math.floor(at / columns), column: at % columns }] : []));
}

/** Describes a cell: `row 2, column 1`, counted from 1. */
export const cellText = (cell: Cell) => `row ${cell.row + 1}, column ${cell.column + 1}`;
export const cellsText = (cells: readonly Cell[]) => cells.map(cellText).join('; ');

const directions: Record<string, Cell> = {
  left: { row: 0, column: -1 },
  down: { row: 1, column: 0 },
  right: { row: 0, column: 1 },
  up: { row: -1, column: 0 },
};

/** Returns the step of one cell in an action's direction; null for other actions. */
export function direction(action: string | null): Cell | null {
  return (action && directions[action.toLowerCase()]) || null;
}

export interface Move {
  from: Cell;
  to: Cell;
  /** Intended direction, as a step of one cell. */
  intent: Cell | null;
  slipped: boolean;
}

/** The parts of a frame that a move is read from. */
export type MoveFrame = Pick<Frame, 'board' | 'action' | 'slipped'>;

/** Finds the agent on a board. */
type AgentOf = (board: string) => Cell | null;

/** Returns the move to frame `index`; null for the first frame or an invalid board. */
export function moveAt(frames: readonly MoveFrame[], index: number, agentOf: AgentOf): Move | null {
  const frame = frames[index];
  const before = frames[index - 1];
  if (!frame?.board || !before?.board) return null;
  const from = agentOf(before.board);
  const to = agentOf(frame.board);
  return from && to ? { from, to, intent: direction(frame.action), slipped: frame.slipped } : null;
}

/** Returns the cells that the agent visited up to frame `index`, without consecutive duplicates. */
export function trail(frames: readonly Frame[], index: number, agentOf: AgentOf): Cell[] {
  const cells: Cell[] = [];
  for (const frame of frames.slice(0, index + 1)) {
    const agent = frame.board ? agentOf(frame.board) : null;
    const last = cells.at(-1);
    if (agent && !(last && sameCell(last, agent))) cells.push(agent);
  }
  return cells;
}

/** Share of a slipping move that follows the intended direction. */
const intentPart = 0.3;
const intentReach = 0.22;
const bumpReach = 0.16;

/** Returns the agent's position in cells at `progress` (0 to 1). A blocked move bumps into the edge and returns. */
export function positionAt(move: Move, progress: number): Cell {
  const { from, to, intent, slipped } = move;
  if (slipped && intent && progress < 1) {
    if (progress < intentPart) return along(from, intent, intentReach * ease(progress / intentPart));
    const start = along(from, intent, intentReach);
    const part = ease((progress - intentPart) / (1 - intentPart));
    return between(start, to, part);
  }
  if (sameCell(from, to)) return intent ? along(from, intent, bumpReach * Math.sin(Math.PI * progress)) : from;
  return between(from, to, ease(progress));
}

function along(from: Cell, step: Cell, reach: number): Cell {
  return { row: from.row + step.row * reach, column: from.column + step.column * reach };
}

function between(from: Cell, to: Cell, part: number): Cell {
  return {
    row: from.row + (to.row - from.row) * part,
    column: from.column + (to.column - from.column) * part,
  };
}

function ease(part: number): number {
  return part * part * (3 - 2 * part);
}
