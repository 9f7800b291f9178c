import type { PaintedEpisode, Painter, Scene } from '../environment.ts';
import { type Move, moveAt, positionAt } from '../grid.ts';
import { middle, unit } from '../grid-parts.tsx';
import { type Lake, parseLake } from './lake.ts';
import styles from './lake-board.module.css';
import { agents, bank, glint, hole, ice, shore, sizes, star } from './lake-shapes.ts';

export const lakePainter: Painter = { styles, palette: 'lake', stamps: agents, middle: 0, reach: 34, scene };

function scene({ frames }: PaintedEpisode): Scene | null {
  const first = parseLake(frames[0]?.board ?? '');
  if (!first) return null;
  const width = first.columns * unit;
  const height = first.rows * unit;
  const lakes = new Map<string, Lake | null>();
  const lakeOf = (board: string) => {
    const lake = lakes.has(board) ? lakes.get(board)! : parseLake(board);
    lakes.set(board, lake);
    return lake;
  };
  const agentOf = (board: string) => lakeOf(board)?.agent ?? null;
  const moves: (Move | null)[] = frames.map((_, index) => moveAt(frames, index, agentOf));
  return {
    width: width + 2 * shore,
    height: height + 2 * shore,
    ground: [
      { x: shore, y: shore, shapes: bank(width, height) },
      ...first.tiles.map((tile, index) => ({
        x: shore + (index % first.columns) * unit,
        y: shore + Math.floor(index / first.columns) * unit,
        shapes: [ice, ...(tile === 'hole' ? hole : [tile === 'goal' ? star : glint(index)])],
      })),
    ],
    pieces(index, progress) {
      const lake = lakeOf(frames[index]?.board ?? '');
      if (!lake?.agent) return [];
      const move = moves[index];
      const at = move && progress < 1 ? positionAt(move, progress) : lake.agent;
      const surface = progress < 1 ? 'ice' : lake.surface;
      return [
        {
          stamp: surface,
          x: shore + at.column * unit + middle,
          y: shore + at.row * unit + middle,
          scale: sizes[surface],
        },
      ];
    },
  };
}
