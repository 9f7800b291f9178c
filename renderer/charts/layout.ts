import type { Trace } from './traces.ts';

/** What a range of the x axis shows. */
export interface Zoom {
  min: number;
  max: number;
}

/** A column of the plot. `low` and `high` are the edges of a shaded band: an interval, or what lies behind a smoothed line. */
export interface Column {
  trace: Trace;
  role: 'line' | 'low' | 'high' | 'raw-low' | 'raw-high';
}

export type Values = (number | undefined)[];

export interface Layout {
  x: number[];
  /** As long as x; undefined where a column has no value, over which a line is drawn on. */
  values: Values[];
  /** Whether several points share a place, so that columns hold the least and the greatest of them. */
  dense: boolean;
  /** Traces that are coarser in view than there are pixels, and where: core may have them finer. */
  coarse: Coarse[];
}

export interface Coarse {
  trace: Trace;
  /** Iterations: after one, up to another. */
  after: number;
  upTo: number;
}

export interface LayoutOptions {
  zoom: Zoom;
  /** Weight of the moving average, 0 for the values as they are. */
  smoothing: number;
  /** Values are their decimal logarithms; what has none is left out. */
  log: boolean;
  /** Places that can be told apart from left to right: pixels. */
  width: number;
}

/** Beyond so many lines over one another, what was measured behind a smoothed one tells nothing any more, and costs twice as much as the lines. */
export const manyLines = 12;

/** The columns of a chart, the hindmost first. */
export const columnsOfAll = (traces: readonly Trace[], smoothed: boolean): Column[] =>
  traces.flatMap((trace) => columnsOf(trace, smoothed && traces.length <= manyLines));

/** The columns of a trace, the hindmost first. */
export function columnsOf(trace: Trace, smoothed: boolean): Column[] {
  const line: Column = { trace, role: 'line' };
  if (trace.band) return [{ trace, role: 'high' }, { trace, role: 'low' }, line];
  if (trace.sparse || trace.faint || !smoothed) return [line];
  return [{ trace, role: 'raw-high' }, { trace, role: 'raw-low' }, line];
}

interface Points {
  places: Float64Array;
  values: Float64Array;
  /** Of the points that each value stands for; the value itself where it is one point, or an average. */
  least: Float64Array;
  most: Float64Array;
  /** How many they are; null where all are points. */
  counts: Float64Array | null;
  /** Those in view, with one more on either side, so that lines reach the edge. */
  from: number;
  to: number;
}

/**
 * Puts all columns onto one x. As long as every place has room, points stay where they are; else the range is cut into as many buckets as there are pixels, of
 * which each shows the least and the greatest value in the order in which they came, so that no spike is hidden. Called again for another zoom, it gives what that
 * range holds in full.
 */
export function layOut(columns: readonly Column[], options: LayoutOptions): Layout {
  const points = columns.map((column) => pointsOf(column, options));
  const coarse = columns.flatMap((column, index) => coarseOf(column, points[index]!, options.width) ?? []);
  const exact = points.some(hasStretches) ? null : unionOf(points, options.width * 2);
  if (exact) {
    // What was measured is a single line then.
    const values = points.map((each, index) =>
      spread(columns[index]!.role === 'raw-high' ? nothing : each, exact),
    );
    return { x: exact, values, dense: false, coarse };
  }
  const grid = gridOf(points, options);
  return {
    x: grid.x,
    values: points.map((each, index) => bucketed(each, grid, columns[index]!.role)),
    dense: true,
    coarse,
  };
}

function pointsOf(column: Column, { zoom, smoothing, log }: LayoutOptions): Points {
  const series = seriesOf(column);
  if (!series) return nothing;
  const { trace } = column;
  const smooth = column.role === 'line' || column.role === 'low' || column.role === 'high';
  const places = trace.places.of(series);
  const weight = smooth && !trace.sparse ? smoothing : 0;
  const scaled = (own: Float64Array) =>
    log ? own.map((value) => (value > 0 ? Math.log10(value) : Number.NaN)) : own;
  const values = scaled(series.smoothed(weight));
  const counts = series.counts();
  const isMean = weight > 0 || counts === null;
  return {
    places,
    values,
    least: isMean ? values : scaled(series.least()),
    most: isMean ? values : scaled(series.most()),
    counts,
    from: Math.max(0, indexAt(places, zoom.min, true)),
    to: Math.min(places.length, indexAt(places, zoom.max) + 2),
  };
}

const none = new Float64Array(0);
const nothing: Points = { places: none, values: none, least: none, most: none, counts: null, from: 0, to: 0 };

const hasStretches = ({ counts, from, to }: Points) =>
  counts?.subarray(from, to).some((count) => count > 1) ?? false;

/** Null where a trace is as fine as its points, or as the pixels. */
function coarseOf({ trace, role }: Column, points: Points, width: number): Coarse | null {
  const { from, to } = points;
  if (role !== 'line' || to - from >= width || !hasStretches(points)) return null;
  const iterations = seriesOf({ trace, role })!.iterations();
  return { trace, after: iterations[from - 1] ?? -1, upTo: iterations[to - 1]! };
}

function seriesOf({ trace, role }: Column) {
  const { source, metric, band } = trace;
  if (role === 'low') return band!.low.source.get(band!.low.metric);
  if (role === 'high') return band!.high.source.get(band!.high.metric);
  return source.get(metric);
}

/** Every place of the points, ascending; null where there are more than `limit`. */
function unionOf(points: readonly Points[], limit: number): number[] | null {
  const all = new Set<number>();
  for (const { places, from, to } of points) {
    if (to - from > limit) return null;
    for (let index = from; index < to; index++) all.add(places[index]!);
    if (all.size > limit) return null;
  }
  return [...all].sort((a, b) => a - b);
}

function spread({ places, values, from, to }: Points, x: readonly number[]): Values {
  const column: Values = new Array(x.length).fill(undefined);
  let at = 0;
  for (let index = from; index < to; index++) {
    while (x[at]! < places[index]!) at += 1;
    column[at] = finite(values[index]!);
  }
  return column;
}

const finite = (value: number) => (Number.isFinite(value) ? value : undefined);

interface Grid {
  /** Places left of the range, two for each bucket, places right of it. */
  x: number[];
  before: number;
  buckets: number;
  /** Places of the first bucket's left edge and the last one's right edge, and the width of each. */
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
  const left = ascending(outside(({ places, from }) => below(places[from]!, zoom.min)));
  const right = ascending(outside(({ places, to }) => above(places[to - 1]!, zoom.max)));
  const inside = Array.from({ length: buckets * 2 }, (_, half) => zoom.min + (half / 2 + 0.25) * step);
  const x = [...left, ...inside, ...right];
  return { x, before: left.length, buckets, start: zoom.min, end: zoom.max, step };
}

const below = (place: number, edge: number) => (place < edge ? place : undefined);
const above = (place: number, edge: number) => (place > edge ? place : undefined);

function bucketed(points: Points, grid: Grid, role: Column['role']): Values {
  const { places, values, least, most, from, to } = points;
  const { x, before, buckets, start, end, step } = grid;
  const column: Values = new Array(x.length).fill(undefined);
  let index = from;
  while (index < to) {
    const place = places[index]!;
    if (place < start || place > end) {
      column[x.indexOf(place)] = finite(values[index]!);
      index += 1;
      continue;
    }
    const bucket = step > 0 ? Math.min(buckets - 1, Math.floor((place - start) / step)) : 0;
    const edge = bucket === buckets - 1 ? Number.POSITIVE_INFINITY : start + (bucket + 1) * step;
    let low = -1;
    let high = -1;
    // The first one in any case: division and product round apart, so that it may lie on the edge.
    do {
      if (Number.isFinite(least[index]) && (low < 0 || least[index]! < least[low]!)) low = index;
      if (Number.isFinite(most[index]) && (high < 0 || most[index]! > most[high]!)) high = index;
      index += 1;
    } while (index < to && places[index]! < edge && places[index]! <= end);
    // On a logarithmic scale a stretch may have nothing but its greatest value.
    if (high < 0) continue;
    if (low < 0) low = high;
    const at = before + 2 * bucket;
    const [lowest, highest] = [finite(least[low]!) ?? most[high]!, most[high]!];
    if (isLowEdge(role)) column[at] = column[at + 1] = lowest;
    else if (isHighEdge(role)) column[at] = column[at + 1] = highest;
    else if (low === high && lowest === highest)
      column[at + (places[low]! < start + (bucket + 0.5) * step ? 0 : 1)] = highest;
    else {
      column[at] = low <= high ? lowest : highest;
      column[at + 1] = low <= high ? highest : lowest;
    }
  }
  return column;
}

const isLowEdge = (role: Column['role']) => role === 'low' || role === 'raw-low';
const isHighEdge = (role: Column['role']) => role === 'high' || role === 'raw-high';

/** Index of the last place at or before the given one (with `strictly`: before it); -1 where there is none. */
export function indexAt(places: ArrayLike<number>, place: number, strictly = false): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < place || (!strictly && places[middle]! === place)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Index of the place that is nearest; -1 where there is none. */
export function nearestAt(places: ArrayLike<number>, place: number): number {
  const before = indexAt(places, place);
  const after = before + 1;
  if (before < 0) return places.length > 0 ? 0 : -1;
  if (after >= places.length) return before;
  return place - places[before]! <= places[after]! - place ? before : after;
}
