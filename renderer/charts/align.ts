import type { MetricSeries } from './metric-series.ts';
import { smooth } from './smoothing.ts';

export interface Line {
  series: MetricSeries | undefined;
  /** Weight of the moving average, 0 for the values as they are. */
  smoothing: number;
}

type Column = (number | undefined)[];

/**
 * Puts several series on one axis of iterations. A place without a value is `undefined`, over which uPlot draws on (null would break the line).
 */
export function align(lines: Line[]): [number[], ...Column[]] {
  const all = new Set<number>();
  for (const { series } of lines) for (const iteration of series?.iterations() ?? []) all.add(iteration);
  const axis = [...all].sort((a, b) => a - b);
  const place = new Map(axis.map((iteration, index) => [iteration, index]));
  const columns = lines.map(({ series, smoothing }) => {
    const column: Column = new Array(axis.length).fill(undefined);
    if (!series) return column;
    const values = smoothing > 0 ? smooth(series.values(), smoothing) : series.values();
    series.iterations().forEach((iteration, index) => {
      column[place.get(iteration)!] = values[index];
    });
    return column;
  });
  return [axis, ...columns];
}

/** Index of the axis' last iteration at or before the given one; -1 if there is none. */
export function indexAt(axis: ArrayLike<number>, iteration: number): number {
  let low = 0;
  let high = axis.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (axis[middle]! <= iteration) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
