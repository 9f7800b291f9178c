import type { Frame } from '../../core/contract/contract.ts';

/** What the environments on a grid of cells share: reading it, moving on it, and saying where something is. */

export interface Cell {
  row: number;
  column: number;
}

export const sameCell = (a: Cell, b: Cell) => a.row === b.row && a.column === b.column;

/** A text grid's symbols row by row; null where its rows differ in length. */
export function parseGrid(board: string): { symbols: string[][]; columns: number } | null {
  const symbols = board
    .trim()
    .split('\n')
    .map((line) => [...line.trim()]);
  const columns = symbols[0]?.length ?? 0;
  return columns > 0 && symbols.every((line) => line.length === columns) ? { symbols, columns } : null;
}

/** The cells of one kind on a board given row by row. */
export function cellsOf<Kind>(kinds: readonly Kind[], columns: number, kind: Kind): Cell[] {
  return kinds.flatMap((each, at) =>
    each === kind ? [{ row: Math.floor(at / columns), column: at % columns }] : [],
  );
}

/** `row 2, column 1`, as people count. */
export const place = (cell: Cell) => `row ${cell.row + 1}, column ${cell.column + 1}`;
export const places = (cells: readonly Cell[]) => cells.map(place).join('; ');

const directions: Record<string, Cell> = {
  left: { row: 0, column: -1 },
  down: { row: 1, column: 0 },
  right: { row: 0, column: 1 },
  up: { row: -1, column: 0 },
};

/** Where an action was meant to go. */
export function direction(action: string | null): Cell | null {
  return (action && directions[action.toLowerCase()]) || null;
}

export interface Move {
  from: Cell;
  to: Cell;
  /** Direction meant, as a step of one cell. */
  intent: Cell | null;
  slipped: boolean;
}

/** Of a frame, what a move is read from. */
export type MoveFrame = Pick<Frame, 'board' | 'action' | 'slipped'>;

/** Reads where the agent is on a board. */
export type AgentOf = (board: string) => Cell | null;

/** What led to frame `index`; null for the first, or where a board can't be read. */
export function moveAt(frames: readonly MoveFrame[], index: number, agentOf: AgentOf): Move | null {
  const frame = frames[index];
  const before = frames[index - 1];
  if (!frame?.board || !before?.board) return null;
  const from = agentOf(before.board);
  const to = agentOf(frame.board);
  return from && to ? { from, to, intent: direction(frame.action), slipped: frame.slipped } : null;
}

/** Cells the agent stood on up to frame `index`, without repetitions in a row. */
export function trail(frames: readonly Frame[], index: number, agentOf: AgentOf): Cell[] {
  const cells: Cell[] = [];
  for (const frame of frames.slice(0, index + 1)) {
    const agent = frame.board ? agentOf(frame.board) : null;
    const last = cells.at(-1);
    if (agent && !(last && sameCell(last, agent))) cells.push(agent);
  }
  return cells;
}

/** Part of a slipping move that goes the way that was meant, before the ice takes over. */
const intentPart = 0.3;
const intentReach = 0.22;
const bumpReach = 0.16;

/** Where the agent is at `progress` (0..1) of a move, in cells. A blocked move knocks against the edge and comes back. */
export function positionAt(move: Move, progress: number): Cell {
  const { from, to, intent, slipped } = move;
  if (slipped && intent && progress < 1) {
    if (progress < intentPart) return along(from, intent, intentReach * ease(progress / intentPart));
    const start = along(from, intent, intentReach);
    const part = ease((progress - intentPart) / (1 - intentPart));
    return between(start, to, part);
  }
  if (sameCell(from, to))
    return intent ? along(from, intent, bumpReach * Math.sin(Math.PI * progress)) : from;
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
