import type { Frame } from '../../core/contract/contract.ts';

export type Tile = 'ice' | 'hole' | 'goal';
export interface Cell {
  row: number;
  column: number;
}
export type Standing = 'ice' | 'hole' | 'goal';

export interface Lake {
  rows: number;
  columns: number;
  /** Row by row. */
  tiles: Tile[];
  agent: Cell | null;
  standing: Standing;
}

const tileOf: Record<string, Tile> = { P: 'ice', _: 'ice', O: 'hole', G: 'goal', X: 'hole', '√': 'goal' };
const standingOf: Record<string, Standing> = { P: 'ice', X: 'hole', '√': 'goal' };

/** Reads the text grid: `P` agent, `_` ice, `O` hole, `G` goal, `X` agent in a hole, `√` agent on the goal. Null for anything else. */
export function parseLake(board: string): Lake | null {
  const lines = board
    .trim()
    .split('\n')
    .map((line) => [...line.trim()]);
  const columns = lines[0]?.length ?? 0;
  if (columns === 0 || lines.some((line) => line.length !== columns)) return null;
  const lake: Lake = { rows: lines.length, columns, tiles: [], agent: null, standing: 'ice' };
  for (const [row, line] of lines.entries()) {
    for (const [column, symbol] of line.entries()) {
      const tile = tileOf[symbol];
      if (!tile) return null;
      lake.tiles.push(tile);
      const standing = standingOf[symbol];
      if (standing) {
        lake.agent = { row, column };
        lake.standing = standing;
      }
    }
  }
  return lake;
}

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

/** Reads where the agent is on a board. */
type AgentOf = (board: string) => Cell | null;

const lakeAgent: AgentOf = (board) => parseLake(board)?.agent ?? null;

/** What led to frame `index`; null for the first, or where a board can't be read. */
export function moveAt(frames: readonly Frame[], index: number, agentOf = lakeAgent): Move | null {
  const frame = frames[index];
  const before = frames[index - 1];
  if (!frame?.board || !before?.board) return null;
  const from = agentOf(before.board);
  const to = agentOf(frame.board);
  return from && to ? { from, to, intent: direction(frame.action), slipped: frame.slipped } : null;
}

/** Part of a slipping move that goes the way that was meant, before the ice takes over. */
const intentPart = 0.3;
const intentReach = 0.22;
const bumpReach = 0.16;

/** Where the agent is at `progress` (0..1) of a move, in cells. A blocked move knocks against the edge and comes back. */
export function positionAt(move: Move, progress: number): Cell {
  const { from, to, intent, slipped } = move;
  const stays = from.row === to.row && from.column === to.column;
  if (slipped && intent && progress < 1) {
    if (progress < intentPart) return along(from, intent, intentReach * ease(progress / intentPart));
    const start = along(from, intent, intentReach);
    const part = ease((progress - intentPart) / (1 - intentPart));
    return between(start, to, part);
  }
  if (stays) return intent ? along(from, intent, bumpReach * Math.sin(Math.PI * progress)) : from;
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

/** Cells the agent stood on up to frame `index`, without repetitions in a row. */
export function trail(frames: readonly Frame[], index: number, agentOf = lakeAgent): Cell[] {
  const cells: Cell[] = [];
  for (const frame of frames.slice(0, index + 1)) {
    const agent = frame.board ? agentOf(frame.board) : null;
    const last = cells.at(-1);
    if (agent && (last?.row !== agent.row || last.column !== agent.column)) cells.push(agent);
  }
  return cells;
}
