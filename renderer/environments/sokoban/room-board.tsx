import { inOrder } from '../../components/in-order.ts';
import { type Cell, type Move, sameCell } from '../grid.ts';
import { Arrows, atCorner, Moving, Trail, unit } from '../grid-parts.tsx';
import { arrived, type Motion } from '../motion.ts';
import { Shapes } from '../shapes.tsx';
import { type Ground, isStored, type Room, type RoomMove } from './room.ts';
import styles from './room-board.module.css';
import { type BoxState, boxes, grounds, keeper } from './room-shapes.ts';

interface RoomBoardProps {
  room: Room;
  /** The last move; null if there was none. */
  move?: RoomMove | null;
  motion?: Motion;
  /** Cells that the agent has visited. */
  path?: readonly Cell[];
  /** A box that can no longer reach a target; marked when it is at rest. */
  lost?: Cell | null;
  /** Text alternative; without it the drawing is decorative. */
  label?: string;
}

export function RoomBoard({ room, move = null, motion = arrived, path = [], lost = null, label }: RoomBoardProps) {
  return (
    <svg
      className={styles.room}
      viewBox={`0 0 ${room.columns * unit} ${room.rows * unit}`}
      role={label ? 'img' : 'presentation'}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      {inOrder(room.ground, (ground, index) => (
        <Tile ground={ground} row={Math.floor(index / room.columns)} column={index % room.columns} />
      ))}
      <Trail cells={path} />
      {room.boxes.map((box) => {
        const pushed = move?.box && sameCell(move.box.to, box) ? move.box : null;
        const stored = isStored(room, box) && !(pushed && motion.moving);
        const state = lost && sameCell(lost, box) ? 'lost' : stored ? 'stored' : 'loose';
        return <Box key={`${box.row},${box.column}`} at={box} move={pushed} motion={motion} state={state} />;
      })}
      {move && <Arrows move={move.agent} />}
      {room.agent && <Keeper at={room.agent} move={move?.agent ?? null} motion={motion} />}
    </svg>
  );
}

function Tile({ ground, row, column }: { ground: Ground; row: number; column: number }) {
  return (
    <g transform={atCorner({ row, column })} className={ground === 'target' ? styles.target : undefined}>
      <Shapes of={grounds[ground]} styles={styles} />
    </g>
  );
}

/** A piece that is at a cell or moving to it. */
interface Piece {
  at: Cell;
  move: Move | null;
  motion: Motion;
}

function Box({ state, ...piece }: Piece & { state: BoxState }) {
  return (
    <Moving className={styles.box} data-state={state} transformAt={atCorner} {...piece}>
      <Shapes of={boxes[state]} styles={styles} />
    </Moving>
  );
}

function Keeper(piece: Piece) {
  return (
    <Moving className={styles.keeper} transformAt={atCorner} {...piece}>
      <Shapes of={keeper} styles={styles} />
    </Moving>
  );
}
