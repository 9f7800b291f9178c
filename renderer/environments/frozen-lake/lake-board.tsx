import type { Cell, Move } from '../grid.ts';
import { Arrows, atCorner, atMiddle, Moving, middle, Shadow, Trail, unit } from '../grid-parts.tsx';
import { arrived, type Motion } from '../motion.ts';
import type { Lake, Standing } from './lake.ts';
import styles from './lake-board.module.css';

/** The shore: wide enough for an arrow that points off the lake. */
const shore = 14;

interface LakeBoardProps {
  lake: Lake;
  /** What led here; null: the agent stands. */
  move?: Move | null;
  motion?: Motion;
  /** Cells that the agent has been on. */
  path?: readonly Cell[];
  /** The board in words; without it the drawing is decoration. */
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
      <rect className={styles.bank} x={-shore} y={-shore} width={width} height={height} rx={18} />
      {lake.tiles.map((tile, index) => {
        const cell = { row: Math.floor(index / lake.columns), column: index % lake.columns };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a tile is its place
          <g key={index} transform={atCorner(cell)}>
            <rect className={styles.ice} x={2} y={2} width={unit - 4} height={unit - 4} rx={7} />
            {tile === 'ice' && <Glint seed={index} />}
            {tile === 'hole' && <Hole />}
            {tile === 'goal' && <Goal reached={standing === 'goal'} />}
          </g>
        );
      })}
      <Trail cells={path} />
      {move && <Arrows move={move} />}
      {lake.agent && <Agent at={lake.agent} way={move} motion={motion} standing={standing} />}
    </svg>
  );
}

/** Scratches in the ice, different from tile to tile so that the lake doesn't look like a table. */
function Glint({ seed }: { seed: number }) {
  const turn = (seed * 67) % 4;
  return (
    <path
      className={styles.glint}
      transform={`rotate(${turn * 90} ${middle} ${middle})`}
      d={seed % 2 ? 'M14 22l10-10M16 30l16-16' : 'M40 50l9-9M46 52l5-5'}
    />
  );
}

function Hole() {
  return (
    <g>
      <path className={styles.rim} d="M10 33c0-12 8-21 21-22 14-1 23 8 23 20 0 13-9 22-22 22S10 45 10 33z" />
      <path
        className={styles.water}
        d="M14 34c0-10 7-17 18-18 11 0 18 6 18 16 0 11-8 18-18 18S14 43 14 34z"
      />
      <path className={styles.depth} d="M20 38c0-7 5-11 13-11 7 0 12 3 12 9 0 7-6 10-12 10s-13-2-13-8z" />
    </g>
  );
}

function Goal({ reached }: { reached: boolean }) {
  return (
    <g>
      {reached && <circle className={styles.halo} cx={middle} cy={middle} r={27} />}
      <path
        className={styles.star}
        d="M32 11l6.2 14 15.2 1.5-11.4 10.1 3.3 14.9L32 43.7l-13.3 7.8L22 36.6 10.6 26.5 25.8 25z"
      />
    </g>
  );
}

/** Where it is drawn, and how large: it sinks into a hole, and makes room for the goal. */
const places: Record<Standing, (cell: Cell) => string> = {
  ice: (cell) => `${atMiddle(cell)} scale(1)`,
  hole: (cell) => `${atMiddle(cell)} scale(0.62)`,
  goal: (cell) => `${atMiddle(cell)} scale(0.84)`,
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
      {standing !== 'hole' && <Shadow at={{ x: 0, y: 22 }} />}
      <path className={styles.feet} d="M-11 21c0-3 9-3 9 0zM2 21c0-3 9-3 9 0z" />
      <path
        className={styles.body}
        d="M0-22c10 0 14 8 14 17 0 4 3 9 3 13 0 9-7 14-17 14s-17-5-17-14c0-4 3-9 3-13 0-9 4-17 14-17z"
      />
      <path className={styles.belly} d="M0-6c7 0 10 6 10 13S6 19 0 19-10 14-10 7-7-6 0-6z" />
      <circle className={styles.eye} cx={-5} cy={-12} r={3.2} />
      <circle className={styles.eye} cx={5} cy={-12} r={3.2} />
      <circle className={styles.pupil} cx={-4.6} cy={-11.6} r={1.5} />
      <circle className={styles.pupil} cx={4.6} cy={-11.6} r={1.5} />
      <path className={styles.beak} d="M-4-7.5h8L0-2.5z" />
      {standing === 'hole' && (
        <g>
          <path d="M-20 14c6 5 34 5 40 0v10h-40z" className={styles.water} />
          <path d="M-21 14c7 6 35 6 42 0M-15 21c6 4 24 4 30 0" className={styles.ripple} />
        </g>
      )}
    </Moving>
  );
}
