import { inOrder } from '../../components/in-order.ts';
import type { Cell, Move } from '../grid.ts';
import { Arrows, atCorner, atMiddle, Moving, Trail, unit } from '../grid-parts.tsx';
import { arrived, type Motion } from '../motion.ts';
import { type Shape, Shapes } from '../shapes.tsx';
import type { Lake, Surface, Tile } from './lake.ts';
import styles from './lake-board.module.css';
import { agents, bank, glint, halo, hole, ice, shore, sizes, star } from './lake-shapes.ts';

interface LakeBoardProps {
  lake: Lake;
  /** The last move; null if there was none. */
  move?: Move | null;
  motion?: Motion;
  /** Cells that the agent has visited. */
  path?: readonly Cell[];
  /** Text alternative; without it the drawing is decorative. */
  label?: string;
}

export function LakeBoard({ lake, move = null, motion = arrived, path = [], label }: LakeBoardProps) {
  const width = lake.columns * unit + 2 * shore;
  const height = lake.rows * unit + 2 * shore;
  const surface: Surface = motion.moving ? 'ice' : lake.surface;
  return (
    <svg
      className={styles.lake}
      viewBox={`${-shore} ${-shore} ${width} ${height}`}
      role={label ? 'img' : 'presentation'}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      <Shapes of={bank(lake.columns * unit, lake.rows * unit)} styles={styles} />
      {inOrder(lake.tiles, (tile, index) => {
        const cell = { row: Math.floor(index / lake.columns), column: index % lake.columns };
        return (
          <g transform={atCorner(cell)}>
            <Shapes of={[ice, ...contents(tile, index, surface)]} styles={styles} />
          </g>
        );
      })}
      <Trail cells={path} />
      {move && <Arrows move={move} />}
      {lake.agent && <Agent at={lake.agent} move={move} motion={motion} surface={surface} />}
    </svg>
  );
}

function contents(tile: Tile, index: number, surface: Surface): readonly Shape[] {
  if (tile === 'hole') return hole;
  if (tile === 'goal') return surface === 'goal' ? [halo, star] : [star];
  return [glint(index)];
}

/** Transforms of the agent by the tile it is on. */
const transforms: Record<Surface, (cell: Cell) => string> = {
  ice: (cell) => `${atMiddle(cell)} scale(${sizes.ice})`,
  hole: (cell) => `${atMiddle(cell)} scale(${sizes.hole})`,
  goal: (cell) => `${atMiddle(cell)} scale(${sizes.goal})`,
};

interface AgentProps {
  at: Cell;
  move: Move | null;
  motion: Motion;
  surface: Surface;
}

function Agent({ at, move, motion, surface }: AgentProps) {
  return (
    <Moving
      className={styles.agent}
      data-surface={surface}
      at={at}
      move={move}
      motion={motion}
      transformAt={transforms[surface]}
    >
      <Shapes of={agents[surface]} styles={styles} />
    </Moving>
  );
}
