import type { BoardProps, EnvironmentView } from '../environment.ts';
import { TextBoard } from '../text-board.tsx';
import { unknownEnvironment } from '../unknown.tsx';
import styles from './process.module.css';
import { parseTextGrid } from './text-grid.ts';

/** An environment that is a program of the user. Its boards are grids if their text is one. */
export const processEnvironment: EnvironmentView = {
  ...unknownEnvironment('process'),
  title: 'Own program',
  tagline: 'An environment that is a program of yours.',
  Board,
};

function Board({ replay: { frames }, index, label }: BoardProps) {
  const board = frames[index]?.board ?? '';
  const cells = parseTextGrid(board);
  if (!cells) return <TextBoard text={board} />;
  return <Grid cells={cells} before={parseTextGrid(frames[index - 1]?.board ?? '')} label={label} />;
}

const size = 40;
const emptyCells = ['.', '_', '0'];

/** Draws the cells and marks those that the last action changed. */
function Grid({ cells, before, label }: { cells: string[][]; before: string[][] | null; label: string }) {
  const columns = cells[0]!.length;
  const look = (cell: string) => (emptyCells.includes(cell) ? `${styles.text} ${styles.empty}` : styles.text);
  const changed = (row: number, column: number) =>
    before !== null && before.length === cells.length && before[row]?.[column] !== cells[row]![column];
  return (
    <svg className={styles.grid} viewBox={`0 0 ${columns * size} ${cells.length * size}`} role="img" aria-label={label}>
      {cells.flatMap((row, y) =>
        row.map((cell, x) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place.
          <g key={`${y}-${x}`} transform={`translate(${x * size} ${y * size})`}>
            <rect
              x="1"
              y="1"
              width={size - 2}
              height={size - 2}
              rx="4"
              className={changed(y, x) ? styles.changed : styles.cell}
            />
            <text x={size / 2} y={size / 2} fontSize={cell.length > 2 ? 44 / cell.length : 18} className={look(cell)}>
              {cell}
            </text>
          </g>
        )),
      )}
    </svg>
  );
}
