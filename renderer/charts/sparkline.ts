/** A point in the unit square, from the left and from the top. */
interface SparkPoint {
  x: number;
  y: number;
}

interface Sparkline {
  points: SparkPoint[];
  /** Heights of the requested levels; null if unknown. */
  levels: (number | null)[];
  /** Position of an iteration, from the left. */
  at: (iteration: number) => number;
}

const margin = 0.08;

/**
 * Reduces a series to at most `limit` points. Each is the one farthest from the mean in its bucket, so that
 * spikes remain. `levels`: additional values, such as a threshold.
 */
export function sparkline(
  iterations: ArrayLike<number>,
  values: ArrayLike<number>,
  levels: readonly (number | null)[] = [],
  limit = 120,
): Sparkline {
  const first = iterations[0] ?? 0;
  const span = Math.max(1, (iterations[iterations.length - 1] ?? 0) - first);
  const seen = [...Array.from(values), ...levels.filter((level) => level !== null)].filter(Number.isFinite);
  const low = seen.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = seen.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const range = high - low || 1;
  const at = (iteration: number) => Math.min(1, Math.max(0, (iteration - first) / span));
  const height = (value: number) => 1 - (margin + (1 - 2 * margin) * ((value - low) / range));
  return {
    points: thinned(values, limit).map((index) => ({ x: at(iterations[index]!), y: height(values[index]!) })),
    levels: levels.map((level) => (level === null ? null : height(level))),
    at,
  };
}

/** Returns the indices of the remaining finite values, ascending, including the last. */
function thinned(values: ArrayLike<number>, limit: number): number[] {
  const finite = Array.from(values, (value, index) => (Number.isFinite(value) ? index : -1)).filter((i) => i >= 0);
  if (finite.length <= limit) return finite;
  const mean = finite.reduce((sum, index) => sum + values[index]!, 0) / finite.length;
  const distance = (index: number) => Math.abs(values[index]! - mean);
  const indices: number[] = [];
  for (let bucket = 0; bucket < limit - 1; bucket++) {
    const from = Math.floor((bucket * finite.length) / (limit - 1));
    const to = Math.floor(((bucket + 1) * finite.length) / (limit - 1));
    indices.push(finite.slice(from, to).reduce((best, index) => (distance(index) > distance(best) ? index : best)));
  }
  const last = finite.at(-1)!;
  return indices.at(-1) === last ? indices : [...indices, last];
}
