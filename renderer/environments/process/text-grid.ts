/** Larger boards are shown as text. */
const maxCells = 32;

/** Returns the cells of a text that is a grid: rows with equally many words, or equally many characters without spaces. Else null. */
export function parseTextGrid(text: string): string[][] | null {
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
