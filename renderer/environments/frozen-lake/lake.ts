import type { Frame } from '../../../core/contract/contract.ts';
import { type Cell, cellsOf, cellsText, cellText, parseGrid } from '../grid.ts';

export type Tile = 'ice' | 'hole' | 'goal';
export type Surface = 'ice' | 'hole' | 'goal';

export interface Lake {
  rows: number;
  columns: number;
  /** Row by row. */
  tiles: Tile[];
  agent: Cell | null;
  surface: Surface;
}

const tileOf: Record<string, Tile> = { P: 'ice', _: 'ice', O: 'hole', G: 'goal', X: 'hole', '√': 'goal' };
const surfaceOf: Record<string, Surface> = { P: 'ice', X: 'hole', '√': 'goal' };

/**
 * Parses the text grid: `P` agent, `_` ice, `O` hole, `G` goal, `X` agent in a hole, `√` agent on the goal.
 * Returns null for anything else.
 */
export function parseLake(board: string): Lake | null {
  const grid = parseGrid(board);
  if (!grid) return null;
  const { symbols, columns } = grid;
  const lake: Lake = { rows: symbols.length, columns, tiles: [], agent: null, surface: 'ice' };
  for (const [row, line] of symbols.entries()) {
    for (const [column, symbol] of line.entries()) {
      const tile = tileOf[symbol];
      if (!tile) return null;
      lake.tiles.push(tile);
      const surface = surfaceOf[symbol];
      if (surface) {
        lake.agent = { row, column };
        lake.surface = surface;
      }
    }
  }
  return lake;
}

export const lakeAgent = (board: string): Cell | null => parseLake(board)?.agent ?? null;

/** Returns the tile that the agent is on after a frame's action. */
export const surfaceAt = ({ board }: Frame): Surface => (board === null ? null : parseLake(board))?.surface ?? 'ice';

export function describeLake(lake: Lake): string {
  const holes = cellsOf(lake.tiles, lake.columns, 'hole');
  return [
    `Board of ${lake.rows} by ${lake.columns}.`,
    lake.agent ? `Agent at ${cellText(lake.agent)}.` : '',
    `Goal at ${cellsText(cellsOf(lake.tiles, lake.columns, 'goal')) || 'no cell'}.`,
    holes.length > 0 ? `Holes at ${cellsText(holes)}.` : 'No holes.',
  ].join(' ');
}
