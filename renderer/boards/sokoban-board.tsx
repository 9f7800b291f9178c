import type { Cell, Move } from './lake.ts';
import { positionAt } from './lake.ts';
import { Arrows } from './lake-board.tsx';
import { type Ground, isStored, type Room, type RoomMove, sameCell } from './sokoban.ts';

/** Units of the drawing for each cell. */
const unit = 64;
const middle = unit / 2;

interface SokobanBoardProps {
  room: Room;
  /** What led here, drawn at `progress` of the way; null: the agent stands. */
  move?: RoomMove | null;
  progress?: number;
  trail?: readonly Cell[];
  /** The box that no push brings to a target any more; marked once it has come to rest. */
  lost?: Cell | null;
  /** The board in words; without it the drawing is decoration. */
  label?: string;
}

export function SokobanBoard({
  room,
  move = null,
  progress = 1,
  trail = [],
  lost = null,
  label,
}: SokobanBoardProps) {
  const moving = progress < 1;
  const now = (at: Cell, way: Move | null | undefined) => (way && moving ? positionAt(way, progress) : at);
  return (
    <svg
      className="sokoban"
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
      {trail.length > 1 && (
        <polyline
          className="lake-trail"
          points={trail
            .map(({ row, column }) => `${column * unit + middle},${row * unit + middle}`)
            .join(' ')}
        />
      )}
      {room.boxes.map((box) => {
        const pushed = move?.box && sameCell(move.box.to, box) ? move.box : null;
        const stored = isStored(room, box) && !(pushed && moving);
        const state = lost && sameCell(lost, box) ? 'lost' : stored ? 'stored' : 'loose';
        return <Box key={`${box.row},${box.column}`} at={now(box, pushed)} state={state} />;
      })}
      {move && <Arrows move={move.agent} />}
      {room.agent && <Keeper at={now(room.agent, move?.agent)} />}
    </svg>
  );
}

const place = ({ row, column }: Cell) => `translate(${column * unit} ${row * unit})`;

function Tile({ ground, row, column }: { ground: Ground; row: number; column: number }) {
  if (ground === 'wall') {
    return (
      <g transform={place({ row, column })}>
        <rect className="sokoban-wall" width={unit} height={unit} />
        {/* An even number of courses, so that the bond goes on in the next cell. */}
        <path
          className="sokoban-mortar"
          d="M0 16h64M0 32h64M0 48h64M0 64h64M16 0v16M48 16v16M16 32v16M48 48v16"
        />
      </g>
    );
  }
  return (
    <g transform={place({ row, column })}>
      <rect className="sokoban-floor" width={unit} height={unit} />
      {ground === 'target' && (
        <g className="sokoban-target">
          <circle cx={middle} cy={middle} r={17} />
          <circle cx={middle} cy={middle} r={6} />
        </g>
      )}
    </g>
  );
}

/** What lies on the crate's boards: a brace, a check mark on a target, a cross where it is lost. */
const boxMarks = {
  loose: <path className="box-boards" d="M18 42L46 22" />,
  stored: <path className="box-check" d="M21 33l8 8 15-17" />,
  lost: <path className="box-cross" d="M22 22l20 20M42 22L22 42" />,
};

function Box({ at, state }: { at: Cell; state: keyof typeof boxMarks }) {
  return (
    <g className="sokoban-box" data-state={state} transform={place(at)}>
      <rect className="box-case" x={8} y={8} width={48} height={48} rx={5} />
      <path className="box-boards" d="M14 20h36M14 44h36" />
      {boxMarks[state]}
    </g>
  );
}

function Keeper({ at }: { at: Cell }) {
  return (
    <g className="sokoban-keeper" transform={place(at)}>
      <ellipse className="agent-shadow" cx={32} cy={55} rx={15} ry={4} />
      <path className="keeper-legs" d="M23 43h8v11h-9zM33 43h8l1 11h-9z" />
      <path className="keeper-body" d="M18 46c0-12 4-19 14-19s14 7 14 19z" />
      <circle className="keeper-face" cx={32} cy={20} r={11} />
      <path className="keeper-cap" d="M20 18c0-8 5-12 12-12s12 4 12 12z" />
      <path className="keeper-cap" d="M19 17h27c2 0 2 3 0 3H19z" />
      <circle className="agent-pupil" cx={28} cy={23} r={1.7} />
      <circle className="agent-pupil" cx={36} cy={23} r={1.7} />
    </g>
  );
}
