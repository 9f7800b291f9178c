import type { PaintedEpisode, Painter, Scene } from './environment.ts';
import styles from './text-board.module.css';

const size = 18;

/** Paints recorded states as text. */
export const textPainter: Painter = { styles, palette: 'board', stamps: {}, middle: 0, reach: 0, scene };

function scene({ frames }: PaintedEpisode): Scene {
  const texts = frames.map(({ board }) => (board ?? '').split('\n'));
  const columns = Math.max(1, ...texts.flat().map((line) => line.length));
  const rows = Math.max(1, ...texts.map((lines) => lines.length));
  const width = (columns + 1) * size * 0.7;
  return {
    width,
    height: (rows + 1) * size,
    ground: [],
    pieces: (index) =>
      (texts[index] ?? []).map((text, row) => ({
        text,
        size,
        look: 'text',
        x: width / 2,
        y: (row + 1) * size,
      })),
  };
}
