/** Larger boards are shown as text. */
const maxCells = 32;

export type TextGrid = readonly (readonly string[])[];

/** Returns the cells of a string that is a grid: rows with equally many words, or equally many characters without spaces. Else null. */
export function parseTextGrid(text: string): TextGrid | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const words = lines.map((line) => line.trim().split(/\s+/));
  for (const cells of [words, words.every((row) => row.length === 1) ? words.map(([row]) => [...row!]) : []]) {
    const columns = cells[0]?.length ?? 0;
    const isGrid = cells.length > 1 && columns > 1 && cells.every((row) => row.length === columns);
    if (isGrid && columns <= maxCells && cells.length <= maxCells && cells.flat().every((cell) => cell.length <= 6))
      return cells;
  }
  return null;
}

/** How a cell is drawn: its background, and the look of its text, which is empty for an empty cell. */
export interface CellLook {
  back: string;
  text: string;
  look: string;
}

const emptyCells = new Set(['.', '_', '·', '-']);
const isPowerOfTwo = (cell: string) =>
  /^\d+$/.test(cell) && Number(cell) >= 2 && Number.isInteger(Math.log2(Number(cell)));
const tiles = 8;
/** Tiles above this one have the same light color in both themes. */
const lastPale = 3;

/** Returns how to draw the cells of a grid. Powers of two, as in 2048, become tiles that are more colorful the larger they are. */
export function cellLooks(cells: TextGrid): (cell: string) => CellLook {
  const all = new Set(cells.flat());
  const isTiled = [...all].every((cell) => emptyCells.has(cell) || cell === '0' || isPowerOfTwo(cell));
  return (cell) => {
    if (emptyCells.has(cell) || (isTiled && cell === '0')) return { back: 'empty', text: '', look: 'faint' };
    if (isTiled) {
      const tile = Math.min(tiles, Math.log2(Number(cell)));
      return { back: `tile${tile}`, text: cell, look: tile > lastPale ? 'onTile' : 'text' };
    }
    if (cell === '#') return { back: 'wall', text: '', look: 'text' };
    if (cell === '@') return { back: 'agent', text: cell, look: 'onAgent' };
    return { back: 'cell', text: cell, look: cell === '0' ? 'faint' : 'text' };
  };
}

/** Returns whether an action changed a cell. */
export const isChanged = (cells: TextGrid, before: TextGrid | null, row: number, column: number): boolean =>
  before?.length === cells.length && before[row]?.[column] !== cells[row]![column];

/** Describes a grid row by row: `Row 1: empty, 2, 4, empty. ...`. */
export const describeGrid = (cells: TextGrid): string =>
  cells
    .map((row, index) => `Row ${index + 1}: ${row.map((cell) => (emptyCells.has(cell) ? 'empty' : cell)).join(', ')}`)
    .join('. ');
