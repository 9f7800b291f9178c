import type { Trace } from './traces.ts';

/** Visible range of the x axis. */
export interface Zoom {
  min: number;
  max: number;
}

/** Values of one line. `low` and `high` are the edges of a band: an interval, or raw values behind a smoothed line. */
export interface Column {
  trace: Trace;
  role: 'line' | 'low' | 'high' | 'raw-low' | 'raw-high';
}

export type Values = (number | undefined)[];

export interface Layout {
  x: number[];
  /** One entry per x; undefined where a column has no value, which the line spans. */
  values: Values[];
  /** True if buckets contain the minimum and maximum of several points. */
  dense: boolean;
  /** Traces with fewer entries than pixels in view, and the range; the server may have finer data. */
  coarse: Coarse[];
}

interface Coarse {
  trace: Trace;
  /** Range of iterations: after the first, up to the second. */
  after: number;
  upTo: number;
}

interface LayoutOptions {
  zoom: Zoom;
  /** Weight of the moving average; 0 for raw values. */
  smoothing: number;
  /** Shows decimal logarithms; values without one are left out. */
  log: boolean;
  /** Width of the plot in pixels. */
  width: number;
}

/**
 * With more lines than this, raw values behind smoothed ones are hidden: they clutter the chart and double
 * the cost.
 */
export const manyLines = 12;

/** Returns the columns of a chart, back to front. */
export const columnsOfAll = (traces: readonly Trace[], smoothed: boolean): Column[] =>
  traces.flatMap((trace) => columnsOf(trace, smoothed && traces.length <= manyLines));

/** Returns the columns of a trace, back to front. */
export function columnsOf(trace: Trace, smoothed: boolean): Column[] {
  const line: Column = { trace, role: 'line' };
  if (trace.band) return [{ trace, role: 'high' }, { trace, role: 'low' }, line];
  if (trace.sparse || trace.faint || !smoothed) return [line];
  return [{ trace, role: 'raw-high' }, { trace, role: 'raw-low' }, line];
}

interface Points {
  positions: Float64Array;
  values: Float64Array;
  /** Minimum and maximum of the points of each value. */
  min: Float64Array;
  max: Float64Array;
  /** Number of points per value; null if all are single points. */
  counts: Float64Array | null;
  /** Visible range of indices, plus one on either side, so that lines reach the edge. */
  from: number;
  to: number;
}

/**
 * Aligns all columns on one x. If no visible entry is a bucket and there are at most two positions per pixel, points keep their positions. Otherwise the range is divided into one bucket per pixel, each with its minimum and maximum in order, so that no spike is lost.
 * Zooming in repeats this for the new range.
 */
export function layOut(columns: readonly Column[], options: LayoutOptions): Layout {
  const points = columns.map((column) => pointsOf(column, options));
  const coarse = columns.flatMap((column, index) => coarseOf(column, points[index]!, options.width) ?? []);
  const exact = points.some(hasBuckets) ? null : unionOf(points, options.width * 2);
  if (exact) {
    // Raw values are a single line then.
    const values = points.map((each, index) => aligned(columns[index]!.role === 'raw-high' ? noPoints : each, exact));
    return { x: exact, values, dense: false, coarse };
  }
  const grid = gridOf(points, options);
  return {
    x: grid.x,
    values: points.map((each, index) => inBuckets(each, grid, columns[index]!.role)),
    dense: true,
    coarse,
  };
}

function pointsOf(column: Column, { zoom, smoothing, log }: LayoutOptions): Points {
  const series = seriesOf(column);
  if (!series) return noPoints;
  const { trace } = column;
  const smooth = column.role === 'line' || column.role === 'low' || column.role === 'high';
  const positions = trace.positions.of(series);
  const weight = smooth && !trace.sparse ? smoothing : 0;
  const scaled = (own: Float64Array) => (log ? own.map((value) => (value > 0 ? Math.log10(value) : Number.NaN)) : own);
  const values = scaled(series.smoothed(weight));
  const counts = series.counts();
  const isMean = weight > 0 || counts === null;
  return {
    positions,
    values,
    min: isMean ? values : scaled(series.min()),
    max: isMean ? values : scaled(series.max()),
    counts,
    from: Math.max(0, indexAt(positions, zoom.min, true)),
    to: Math.min(positions.length, indexAt(positions, zoom.max) + 2),
  };
}

const empty = new Float64Array(0);
const noPoints: Points = {
  positions: empty,
  values: empty,
  min: empty,
  max: empty,
  counts: null,
  from: 0,
  to: 0,
};

const hasBuckets = ({ counts, from, to }: Points) => counts?.subarray(from, to).some((count) => count > 1) ?? false;

/** Returns null if the trace is as fine as its points or the pixels. */
function coarseOf({ trace, role }: Column, points: Points, width: number): Coarse | null {
  const { from, to } = points;
  if (role !== 'line' || to - from >= width || !hasBuckets(points)) return null;
  const iterations = seriesOf({ trace, role })!.iterations();
  return { trace, after: iterations[from - 1] ?? -1, upTo: iterations[to - 1]! };
}

function seriesOf({ trace, role }: Column) {
  const { source, metric, band } = trace;
  if (role === 'low') return band!.low.source.get(band!.low.metric);
  if (role === 'high') return band!.high.source.get(band!.high.metric);
  return source.get(metric);
}

/** Returns all positions, ascending; null if there are more than `limit`. */
function unionOf(points: readonly Points[], limit: number): number[] | null {
  const all = new Set<number>();
  for (const { positions, from, to } of points) {
    if (to - from > limit) return null;
    for (let index = from; index < to; index++) all.add(positions[index]!);
    if (all.size > limit) return null;
  }
  return [...all].sort((a, b) => a - b);
}

function aligned({ positions, values, from, to }: Points, x: readonly number[]): Values {
  const column: Values = new Array(x.length).fill(undefined);
  let at = 0;
  for (let index = from; index < to; index++) {
    while (x[at]! < positions[index]!) at += 1;
    column[at] = finite(values[index]!);
  }
  return column;
}

const finite = (value: number) => (Number.isFinite(value) ? value : undefined);

interface Grid {
  /** Positions left of the range, two per bucket, positions right of it. */
  x: number[];
  before: number;
  buckets: number;
  /** Left edge of the first bucket, right edge of the last, and the width of a bucket. */
  start: number;
  end: number;
  step: number;
}

function gridOf(points: readonly Points[], { zoom, width }: LayoutOptions): Grid {
  const buckets = zoom.min < zoom.max ? Math.max(1, Math.floor(width)) : 1;
  const step = (zoom.max - zoom.min) / buckets;
  const outside = (take: (each: Points) => number | undefined) => [
    ...new Set(points.flatMap((each) => (each.from < each.to ? (take(each) ?? []) : []))),
  ];
  const ascending = (values: number[]) => values.sort((a, b) => a - b);
  const left = ascending(outside(({ positions, from }) => below(positions[from]!, zoom.min)));
  const right = ascending(outside(({ positions, to }) => above(positions[to - 1]!, zoom.max)));
  const inside = Array.from({ length: buckets * 2 }, (_, half) => zoom.min + (half / 2 + 0.25) * step);
  const x = [...left, ...inside, ...right];
  return { x, before: left.length, buckets, start: zoom.min, end: zoom.max, step };
}

const below = (position: number, edge: number) => (position < edge ? position : undefined);
const above = (position: number, edge: number) => (position > edge ? position : undefined);

function inBuckets(points: Points, grid: Grid, role: Column['role']): Values {
  const { positions, values, min, max, from, to } = points;
  const { x, before, buckets, start, end, step } = grid;
  const column: Values = new Array(x.length).fill(undefined);
  let index = from;
  while (index < to) {
    const position = positions[index]!;
    if (position < start || position > end) {
      column[x.indexOf(position)] = finite(values[index]!);
      index += 1;
      continue;
    }
    const bucket = step > 0 ? Math.min(buckets - 1, Math.floor((position - start) / step)) : 0;
    const edge = bucket === buckets - 1 ? Number.POSITIVE_INFINITY : start + (bucket + 1) * step;
    let low = -1;
    let high = -1;
    // Rounding may put the first point on the edge.
    do {
      if (Number.isFinite(min[index]) && (low < 0 || min[index]! < min[low]!)) low = index;
      if (Number.isFinite(max[index]) && (high < 0 || max[index]! > max[high]!)) high = index;
      index += 1;
    } while (index < to && positions[index]! < edge && positions[index]! <= end);
    // On a logarithmic scale only the maximum of a bucket may be positive.
    if (high < 0) continue;
    if (low < 0) low = high;
    const at = before + 2 * bucket;
    const [lowest, highest] = [finite(min[low]!) ?? max[high]!, max[high]!];
    if (isLowEdge(role)) column[at] = column[at + 1] = lowest;
    else if (isHighEdge(role)) column[at] = column[at + 1] = highest;
    else if (low === high && lowest === highest)
      column[at + (positions[low]! < start + (bucket + 0.5) * step ? 0 : 1)] = highest;
    else {
      column[at] = low <= high ? lowest : highest;
      column[at + 1] = low <= high ? highest : lowest;
    }
  }
  return column;
}

const isLowEdge = (role: Column['role']) => role === 'low' || role === 'raw-low';
const isHighEdge = (role: Column['role']) => role === 'high' || role === 'raw-high';

/** Returns the index of the last entry at or before `position` (`strictly`: before it); -1 if there is none. */
export function indexAt(positions: ArrayLike<number>, position: number, strictly = false): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle]! < position || (!strictly && positions[middle]! === position)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns the index of the nearest position; -1 if there is none. */
export function nearestAt(positions: ArrayLike<number>, position: number): number {
  const before = indexAt(positions, position);
  const after = before + 1;
  if (before < 0) return positions.length > 0 ? 0 : -1;
  if (after >= positions.length) return before;
  return position - positions[before]! <= positions[after]! - position ? before : after;
}
