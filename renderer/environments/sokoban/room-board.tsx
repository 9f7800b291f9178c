import { type Cell, type Move, sameCell } from '../grid.ts';
import { Arrows, atCorner, Moving, middle, Shadow, Trail, unit } from '../grid-parts.tsx';
import { arrived, type Motion } from '../motion.ts';
import { type Ground, isStored, type Room, type RoomMove } from './room.ts';
import styles from './room-board.module.css';

interface RoomBoardProps {
  room: Room;
  /** What led here; null: the agent stands. */
  move?: RoomMove | null;
  motion?: Motion;
  /** Cells that the agent has been on. */
  path?: readonly Cell[];
  /** The box that no push brings to a target any more; marked once it has come to rest. */
  lost?: Cell | null;
  /** The board in words; without it the drawing is decoration. */
  label?: string;
}

export function RoomBoard({
  room,
  move = null,
  motion = arrived,
  path = [],
  lost = null,
  label,
}: RoomBoardProps) {
  return (
    <svg
      className={styles.room}
      viewBox={`0 0 ${room.columns * unit} ${room.rows * unit}`}
      role={label ? 'img' : 'presentation'}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      {room.ground.map((ground, index) => (
        <Tile
          // biome-ignore lint/suspicious/noArrayIndexKey: a tile is its place
          key={index}
          ground={ground}
          row={Math.floor(index / room.columns)}
          column={index % room.columns}
        />
      ))}
      <Trail cells={path} />
      {room.boxes.map((box) => {
        const pushed = move?.box && sameCell(move.box.to, box) ? move.box : null;
        const stored = isStored(room, box) && !(pushed && motion.moving);
        const state = lost && sameCell(lost, box) ? 'lost' : stored ? 'stored' : 'loose';
        return <Box key={`${box.row},${box.column}`} at={box} way={pushed} motion={motion} state={state} />;
      })}
      {move && <Arrows move={move.agent} />}
      {room.agent && <Keeper at={room.agent} way={move?.agent ?? null} motion={motion} />}
    </svg>
  );
}

function Tile({ ground, row, column }: { ground: Ground; row: number; column: number }) {
  if (ground === 'wall') {
    return (
      <g transform={atCorner({ row, column })}>
        <rect className={styles.wall} width={unit} height={unit} />
        {/* An even number of courses, so that the bond goes on in the next cell. */}
        <path
          className={styles.mortar}
          d="M0 16h64M0 32h64M0 48h64M0 64h64M16 0v16M48 16v16M16 32v16M48 48v16"
        />
      </g>
    );
  }
  return (
    <g transform={atCorner({ row, column })}>
      <rect className={styles.floor} width={unit} height={unit} />
      {ground === 'target' && (
        <g className={styles.target}>
          <circle cx={middle} cy={middle} r={17} />
          <circle cx={middle} cy={middle} r={6} />
        </g>
      )}
    </g>
  );
}

/** What lies on the crate's boards: a brace, a check mark on a target, a cross where it is lost. */
const boxMarks = {
  loose: <path className={styles.boards} d="M18 42L46 22" />,
  stored: <path className={styles.check} d="M21 33l8 8 15-17" />,
  lost: <path className={styles.cross} d="M22 22l20 20M42 22L22 42" />,
};

/** What is on its way to a cell, or stands there. */
interface Piece {
  at: Cell;
  way: Move | null;
  motion: Motion;
}

function Box({ state, ...piece }: Piece & { state: keyof typeof boxMarks }) {
  return (
    <Moving className={styles.box} data-state={state} place={atCorner} {...piece}>
      <rect className={styles.case} x={8} y={8} width={48} height={48} rx={5} />
      <path className={styles.boards} d="M14 20h36M14 44h36" />
      {boxMarks[state]}
    </Moving>
  );
}

function Keeper(piece: Piece) {
  return (
    <Moving className={styles.keeper} place={atCorner} {...piece}>
      <Shadow at={{ x: 32, y: 55 }} />
      <path className={styles.legs} d="M23 43h8v11h-9zM33 43h8l1 11h-9z" />
      <path className={styles.body} d="M18 46c0-12 4-19 14-19s14 7 14 19z" />
      <circle className={styles.face} cx={32} cy={20} r={11} />
      <path className={styles.cap} d="M20 18c0-8 5-12 12-12s12 4 12 12z" />
      <path className={styles.cap} d="M19 17h27c2 0 2 3 0 3H19z" />
      <circle className={styles.eye} cx={28} cy={23} r={1.7} />
      <circle className={styles.eye} cx={36} cy={23} r={1.7} />
    </Moving>
  );
}
