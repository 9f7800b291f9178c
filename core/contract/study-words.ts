import type { Estimate, StudyCell, StudyRow } from './contract.ts';
import { listWithAnd } from './sentence.ts';

/** Iterations whose training success is averaged. */
export const lastIterations = 10;

/** Describes the runs behind a mean: its 95 % interval (`40 % to 60 %, n = 3`), the two single values, or `one run`. */
export function spreadInWords({ n, values, low, high }: Estimate, percent: (share: number) => string): string {
  if (low !== null && high !== null) return `${percent(low)} to ${percent(high)}, n = ${n}`;
  return n === 1 ? 'one run' : listWithAnd(values.map(percent));
}

/** Describes the iterations per run of a setting: `20 / 50`, or `3 to 20 / 50` if its runs differ. */
export function iterationsInWords(cells: readonly StudyCell[]): string {
  const range = (values: readonly number[]) => [...new Set([Math.min(...values), Math.max(...values)])].join(' to ');
  return `${range(cells.map(({ iteration }) => iteration))} / ${range(cells.map(({ iterations }) => iterations))}`;
}

/** Returns `Last 10 iterations`, or fewer if no run has as many. */
export function lastIterationsTitle(rows: readonly StudyRow[]): string {
  const cells = rows.flatMap((row) => row.cells);
  const reached = Math.max(...cells.map(({ iteration }) => iteration));
  const longest = reached > 0 ? reached : Math.max(1, ...cells.map(({ iterations }) => iterations));
  const count = Math.min(lastIterations, longest);
  return count === 1 ? 'Last iteration' : `Last ${count} iterations`;
}
