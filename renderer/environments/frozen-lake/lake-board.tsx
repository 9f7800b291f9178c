import { inOrder } from '../../components/in-order.ts';
import type { Cell, Move } from '../grid.ts';
import { Arrows, atCorner, atMiddle, Moving, Trail, unit } from '../grid-parts.tsx';
import { arrived, type Motion } from '../motion.ts';
import { type Shape, Shapes } from '../shapes.tsx';
import type { Lake, Standing, Tile } from './lake.ts';
import styles from './lake-board.module.css';
import { agents, bank, glint, halo, hole, ice, shore, sizes, star } from './lake-shapes.ts';

interface LakeBoardProps {
  lake: Lake;
  /** The last move; null if the agent stands. */
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
  const standing: Standing = motion.moving ? 'ice' : lake.standing;
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
            <Shapes of={[ice, ...on(tile, index, standing)]} styles={styles} />
          </g>
        );
      })}
      <Trail cells={path} />
      {move && <Arrows move={move} />}
      {lake.agent && <Agent at={lake.agent} way={move} motion={motion} standing={standing} />}
    </svg>
  );
}

/** Draws what is on a tile. */
function on(tile: Tile, index: number, standing: Standing): readonly Shape[] {
  if (tile === 'hole') return hole;
  if (tile === 'goal') return standing === 'goal' ? [halo, star] : [star];
  return [glint(index)];
}

/** Position and size of the agent. */
const places: Record<Standing, (cell: Cell) => string> = {
  ice: (cell) => `${atMiddle(cell)} scale(${sizes.ice})`,
  hole: (cell) => `${atMiddle(cell)} scale(${sizes.hole})`,
  goal: (cell) => `${atMiddle(cell)} scale(${sizes.goal})`,
};

interface AgentProps {
  at: Cell;
  way: Move | null;
  motion: Motion;
  standing: Standing;
}

function Agent({ at, way, motion, standing }: AgentProps) {
  return (
    <Moving
      className={styles.agent}
      data-standing={standing}
      at={at}
      way={way}
      motion={motion}
      place={places[standing]}
    >
      <Shapes of={agents[standing]} styles={styles} />
    </Moving>
  );
}
