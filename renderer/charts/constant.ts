import type { ChartItem } from './chart.tsx';
import { seriesOf } from './traces.ts';

/** Minimum number of entries. Fewer may be equal by chance. */
const minEntries = 10;

/** Returns whether all lines of a chart have the same value everywhere, so that the chart shows nothing but that value. */
export function isConstant({ traces }: Pick<ChartItem, 'traces'>): boolean {
  const all = traces.flatMap((trace) => seriesOf(trace) ?? []);
  const value = all[0]?.constant();
  return value !== undefined && all.every((series) => series.length >= minEntries && series.constant() === value);
}
