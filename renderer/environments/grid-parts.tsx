import { type SVGProps, useCallback, useRef } from 'react';
import { type Cell, type Move, positionAt } from './grid.ts';
import styles from './grid-parts.module.css';
import { type Motion, useMotion } from './motion.ts';

/** Units per cell. */
export const unit = 64;
export const middle = unit / 2;

const x = (cell: Cell) => cell.column * unit + middle;
const y = (cell: Cell) => cell.row * unit + middle;

/** Returns the transform from 0,0 to the center of a cell. */
export const atMiddle = (cell: Cell) => `translate(${x(cell)} ${y(cell)})`;
/** Returns the transform from 0,0 to the corner of a cell. */
export const atCorner = ({ row, column }: Cell) => `translate(${column * unit} ${row * unit})`;

interface MovingProps extends SVGProps<SVGGElement> {
  /** The destination. */
  at: Cell;
  /** The last move; null if there was none. */
  move: Move | null;
  motion: Motion;
  /** Returns the transform for a cell. */
  transformAt: (cell: Cell) => string;
}

/** Shows a group that moves from one cell to another. */
export function Moving({ at, move, motion, transformAt, ...group }: MovingProps) {
  const element = useRef<SVGGElement>(null);
  const draw = useCallback(
    (progress: number) => {
      const cell = move && progress < 1 ? positionAt(move, progress) : at;
      element.current?.setAttribute('transform', transformAt(cell));
    },
    [at, move, transformAt],
  );
  useMotion(motion, draw);
  return <g ref={element} {...group} />;
}

/** Draws the agent's path. */
export function Trail({ cells }: { cells: readonly Cell[] }) {
  if (cells.length < 2) return null;
  return <polyline className={styles.trail} points={cells.map((cell) => `${x(cell)},${y(cell)}`).join(' ')} />;
}

/** Draws the intended direction (dashed after a slip) and the actual one. */
export function Arrows({ move }: { move: Move }) {
  const { from, to, intent, slipped } = move;
  const moved = from.row !== to.row || from.column !== to.column;
  const intended = intent && { row: from.row + intent.row, column: from.column + intent.column };
  return (
    <g>
      {moved && <Arrow from={from} to={to} kind={slipped ? 'slip' : 'move'} />}
      {intended && (slipped || !moved) && <Arrow from={from} to={intended} kind={slipped ? 'intended' : 'blocked'} />}
    </g>
  );
}

interface ArrowProps {
  from: Cell;
  to: Cell;
  kind: 'move' | 'slip' | 'intended' | 'blocked';
}

function Arrow({ from, to, kind }: ArrowProps) {
  const angle = (Math.atan2(to.row - from.row, to.column - from.column) * 180) / Math.PI;
  // Points to the edge between two cells, hiding neither. A blocked move ends in a bar there.
  const head = kind === 'blocked' ? 'M31 -8v16' : 'M34 -6l8 6-8 6';
  return (
    <g className={styles.arrow} data-kind={kind} transform={`${atMiddle(from)} rotate(${angle})`}>
      <path d={kind === 'blocked' ? 'M21 0h9' : 'M21 0h20'} className={styles.shaft} />
      <path d={head} />
    </g>
  );
}
