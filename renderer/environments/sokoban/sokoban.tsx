import { useMemo } from 'react';
import type { Frame } from '../../../core/contract/contract.ts';
import type { BoardProps, EnvironmentView, IllustrationProps, Outcome } from '../environment.ts';
import { trail } from '../grid.ts';
import { TextBoard } from '../text-board.tsx';
import { describeRoom, lostBox, parseRoom, roomAgent, roomMoveAt } from './room.ts';
import styles from './room-board.module.css';
import { RoomBoard } from './room-board.tsx';
import { roomPainter } from './room-painter.ts';

export const sokoban: EnvironmentView = {
  type: 'sokoban',
  title: 'Sokoban',
  letters: {
    ...{ '#': 'wall', _: 'floor', O: 'target', X: 'box', '√': 'box on a target', P: 'player' },
    S: 'player on a target',
  },
  tagline: "Push every box onto a target. Boxes can't be pulled.",
  bounds: ({ dim_x, dim_y, num_boxes }, maxActions) =>
    dim_x === 6 && dim_y === 6 && num_boxes === 1 && maxActions === 10 ? [{ name: 'random', success: 0.19 }] : [],
  paper: ({ dim_x, dim_y, num_boxes }) => (dim_x === 6 && dim_y === 6 && num_boxes === 1 ? 0.2148 : undefined),
  outcome,
  Board,
  painter: roomPainter,
  describe: ({ frames }, index) => {
    const board = frames[index]?.board ?? '';
    const room = parseRoom(board);
    return room ? describeRoom(room, lostBox(frames, index)) : board;
  },
  Illustration,
};

function outcome(frames: readonly Frame[], index: number): Outcome {
  const frame = frames[index]!;
  if (frame.success) return { tone: 'good', text: 'pushed the last box onto a target', note: 'solved the level' };
  if (!frame.effective) return { tone: 'idle', text: 'blocked', note: 'blocked' };
  return { tone: 'plain', text: describePush(frames, index) ?? 'moved' };
}

/** Describes what happened to a pushed box. */
function describePush(frames: readonly Frame[], index: number): string | null {
  const move = roomMoveAt(frames, index);
  if (!move?.box) return null;
  if (frames[index]?.deadEnd && !frames[index - 1]?.deadEnd) return 'pushed a box into a dead end';
  if (move.change === 'stored') return 'pushed a box onto a target';
  return move.change === 'unstored' ? 'pushed a box off its target' : 'pushed a box';
}

function Board({ replay: { frames }, index, motion, label }: BoardProps) {
  const { moving } = motion;
  const board = frames[index]?.board ?? '';
  const room = useMemo(() => parseRoom(board), [board]);
  const move = useMemo(() => roomMoveAt(frames, index), [frames, index]);
  const path = useMemo(() => trail(frames, moving ? index - 1 : index, roomAgent), [frames, index, moving]);
  const lost = useMemo(() => (moving ? null : lostBox(frames, index)), [frames, index, moving]);
  if (!room) return <TextBoard text={board} />;
  return <RoomBoard room={room} move={move} motion={motion} path={path} lost={lost} label={label} />;
}

const picture = parseRoom('######\n#__#_#\n#PX_O#\n#____#\n##___#\n######')!;

function Illustration({ small }: IllustrationProps) {
  return (
    <div className={styles.picture} data-small={small || undefined}>
      <RoomBoard room={picture} />
    </div>
  );
}
