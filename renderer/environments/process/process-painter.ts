import type { PaintedEpisode, Painter, Piece, Scene } from '../environment.ts';
import { boardShape, edge, size, stamps, textSize } from './grid-shapes.ts';
import { isPicture, type PictureSize, readPicture } from './png.ts';
import styles from './text-grid.module.css';
import { cellLooks, parseTextGrid } from './text-grid.ts';

/** Paints boards that are grids. */
export const processPainter: Painter = {
  styles,
  palette: 'grid',
  stamps,
  middle: size / 2,
  reach: size / 2 + 2,
  scene,
};

/** Returns null if a board isn't a grid of the same size as the others. */
function scene({ frames }: Pick<PaintedEpisode, 'frames'>): Scene | null {
  if (frames.some(({ board }) => isPicture(board ?? ''))) return pictureScene({ frames });
  const grids = new Map<string, Piece[]>();
  let dimensions: { rows: number; columns: number } | null = null;
  for (const { board } of frames) {
    if (grids.has(board ?? '')) continue;
    const cells = parseTextGrid(board ?? '');
    if (!cells) return null;
    const [rows, columns] = [cells.length, cells[0]!.length];
    dimensions ??= { rows, columns };
    if (rows !== dimensions.rows || columns !== dimensions.columns) return null;
    const lookOf = cellLooks(cells);
    const at = (index: number) => edge + (index + 0.5) * size;
    const pieces = cells.flatMap((row, y) =>
      row.flatMap((cell, x): Piece[] => {
        const { back, text, look } = lookOf(cell);
        const place = { x: at(x), y: at(y) };
        return [{ ...place, stamp: back }, ...(text ? [{ ...place, text, look, size: textSize(text) }] : [])];
      }),
    );
    grids.set(board ?? '', pieces);
  }
  if (!dimensions) return null;
  const { rows, columns } = dimensions;
  return {
    width: columns * size + 2 * edge,
    height: rows * size + 2 * edge,
    ground: [{ x: 0, y: 0, shapes: [boardShape(rows, columns)] }],
    pieces: (index) => grids.get(frames[index]?.board ?? '') ?? [],
  };
}

/** Longer side of a picture, in units. */
const longest = 3 * size;

/** Returns pictures in the proportions of the first valid one. A frame without one shows the previous one. */
function pictureScene({ frames }: Pick<PaintedEpisode, 'frames'>): Scene {
  const valid = frames.map(({ board }) => (typeof readPicture(board ?? '') === 'string' ? null : board));
  const first = valid.find((board) => board !== null);
  const { width, height } = first ? (readPicture(first) as PictureSize) : { width: 3, height: 2 };
  const unit = longest / Math.max(width, height);
  const place = { x: (width * unit) / 2, y: (height * unit) / 2 };
  const shown = valid.map((_, index) => valid.slice(0, index + 1).findLast((board) => board !== null));
  return {
    width: width * unit,
    height: height * unit,
    ground: first ? [] : [{ x: 0, y: 0, shapes: [boardShape(1.7, 2.7)] }],
    pieces: (index) => {
      const image = shown[index];
      return image
        ? [{ ...place, image, width: width * unit, height: height * unit }]
        : [{ ...place, text: 'No picture', look: 'faint', size: 16 }];
    },
    images: valid.filter((board) => board !== null),
  };
}
