import type { PaintedEpisode, Painter, Piece, Scene } from '../environment.ts';
import { type Cell, positionAt, sameCell } from '../grid.ts';
import { middle, unit } from '../grid-parts.tsx';
import { isStored, parseRoom, type Room, roomMoveAt } from './room.ts';
import styles from './room-board.module.css';
import { boxes, grounds, keeper } from './room-shapes.ts';

export const roomPainter: Painter = {
  styles,
  palette: 'room',
  stamps: { ...boxes, keeper },
  middle,
  reach: middle,
  scene,
};

function scene({ frames }: PaintedEpisode): Scene | null {
  const first = parseRoom(frames[0]?.board ?? '');
  if (!first) return null;
  const rooms = new Map<string, Room | null>();
  const roomOf = (board: string) => {
    const room = rooms.has(board) ? rooms.get(board)! : parseRoom(board);
    rooms.set(board, room);
    return room;
  };
  const moves = frames.map((_, index) => roomMoveAt(frames, index));
  return {
    width: first.columns * unit,
    height: first.rows * unit,
    ground: first.ground.map((ground, index) => ({
      x: (index % first.columns) * unit,
      y: Math.floor(index / first.columns) * unit,
      shapes: grounds[ground],
    })),
    pieces(index, progress) {
      const room = roomOf(frames[index]?.board ?? '');
      if (!room) return [];
      const move = progress < 1 ? moves[index] : null;
      const stamp = (name: string, { row, column }: Cell): Piece => ({
        stamp: name,
        x: column * unit + middle,
        y: row * unit + middle,
      });
      const pieces = room.boxes.map((box) => {
        const pushed = move?.box && sameCell(move.box.to, box) ? move.box : null;
        if (pushed) return stamp('loose', positionAt(pushed, progress));
        return stamp(isStored(room, box) ? 'stored' : 'loose', box);
      });
      if (room.agent) pieces.push(stamp('keeper', move ? positionAt(move.agent, progress) : room.agent));
      return pieces;
    },
  };
}
