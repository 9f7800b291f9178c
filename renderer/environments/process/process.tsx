import { useMemo } from 'react';
import type { Replay } from '../../../core/contract/contract.ts';
import type { BoardProps, EnvironmentView } from '../environment.ts';
import { TextBoard } from '../text-board.tsx';
import { unknownEnvironment } from '../unknown.tsx';
import { boardShape, edge, size, stamps, textSize } from './grid-shapes.ts';
import { enlargement, isPicture, readPicture } from './png.ts';
import { processPainter } from './process-painter.ts';
import styles from './text-grid.module.css';
import { cellLooks, describeGrid, isChanged, parseTextGrid, type TextGrid } from './text-grid.ts';

/** An environment that is a program of the user. Its boards are grids if their text is one, or pictures. */
export const processEnvironment: EnvironmentView = {
  ...unknownEnvironment('process'),
  title: 'Own program',
  tagline: 'Your own environment.',
  Board,
  painter: processPainter,
  Illustration,
  describe,
};

function describe({ frames }: Replay, index: number): string {
  const board = frames[index]?.board ?? '';
  if (isPicture(board)) return 'A picture from the environment';
  const cells = parseTextGrid(board);
  return cells ? describeGrid(cells) : board;
}

function Board({ replay: { frames }, index, label }: BoardProps) {
  const board = frames[index]?.board ?? '';
  if (isPicture(board)) return <Picture board={board} label={label} />;
  const cells = parseTextGrid(board);
  if (!cells) return <TextBoard text={board} />;
  return <Grid cells={cells} before={parseTextGrid(frames[index - 1]?.board ?? '')} label={label} />;
}

/** A decorative picture of a board. */
function Illustration() {
  return (
    <div className={styles.illustration}>
      <Grid cells={picture} before={null} label="" />
    </div>
  );
}

const picture: TextGrid = [
  ['2', '.', '16'],
  ['.', '8', '.'],
  ['64', '.', '4'],
];

/** Draws the cells and marks those that the last action changed. */
function Grid({ cells, before, label }: { cells: TextGrid; before: TextGrid | null; label: string }) {
  const [rows, columns] = [cells.length, cells[0]!.length];
  const lookOf = cellLooks(cells);
  return (
    <svg
      className={`${styles.svg} ${styles.grid}`}
      viewBox={`0 0 ${columns * size + 2 * edge} ${rows * size + 2 * edge}`}
      role={label ? 'img' : undefined}
      aria-label={label || undefined}
      aria-hidden={label ? undefined : true}
    >
      <path className={styles.board} d={boardShape(rows, columns).d} />
      {cells.flatMap((row, y) =>
        row.map((cell, x) => {
          const { back, text, look } = lookOf(cell);
          const changed = back !== 'empty' && isChanged(cells, before, y, x);
          const layers = [...stamps[back]!, ...(changed ? stamps.changed! : [])];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a cell is identified by its position.
            <g key={`${y}-${x}`} transform={`translate(${edge + x * size} ${edge + y * size})`}>
              {layers.map((shape) => (
                <path key={shape.look} className={styles[shape.look]} d={shape.d} />
              ))}
              {text && (
                <text x={size / 2} y={size / 2} fontSize={textSize(text)} className={`${styles.text} ${styles[look]}`}>
                  {text}
                </text>
              )}
            </g>
          );
        }),
      )}
    </svg>
  );
}

/** Shows a picture from the environment only as an image, after its format and size were checked. */
function Picture({ board, label }: { board: string; label: string }) {
  const picture = useMemo(() => readPicture(board), [board]);
  if (typeof picture === 'string') return <p className="muted">The environment's picture can't be shown: {picture}.</p>;
  const factor = enlargement(picture);
  return (
    <img
      className={styles.picture}
      data-enlarged={factor > 1}
      src={board}
      width={factor * picture.width}
      height={factor * picture.height}
      alt={label}
    />
  );
}
