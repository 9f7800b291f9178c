/** A point in the unit square, from the left and from the top. */
interface SparkPoint {
  x: number;
  y: number;
}

interface Spark {
  points: SparkPoint[];
  /** Heights of the requested levels; null if unknown. */
  levels: (number | null)[];
  /** Position of an iteration, from the left. */
  at: (iteration: number) => number;
}

const room = 0.08;

/**
 * Reduces a series to at most `limit` points. Each is the one farthest from the mean in its bucket, so that
 * spikes stay. `levels` are heights to include.
 */
export function spark(
  iterations: ArrayLike<number>,
  values: ArrayLike<number>,
  levels: readonly (number | null)[] = [],
  limit = 120,
): Spark {
  const first = iterations[0] ?? 0;
  const span = Math.max(1, (iterations[iterations.length - 1] ?? 0) - first);
  const seen = [...Array.from(values), ...levels.filter((level) => level !== null)].filter(Number.isFinite);
  const low = seen.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = seen.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const range = high - low || 1;
  const at = (iteration: number) => Math.min(1, Math.max(0, (iteration - first) / span));
  const height = (value: number) => 1 - (room + (1 - 2 * room) * ((value - low) / range));
  return {
    points: thinned(values, limit).map((index) => ({ x: at(iterations[index]!), y: height(values[index]!) })),
    levels: levels.map((level) => (level === null ? null : height(level))),
    at,
  };
}

/** Indices of the finite values that remain, ascending; always includes the last. */
function thinned(values: ArrayLike<number>, limit: number): number[] {
  const finite = Array.from(values, (value, index) => (Number.isFinite(value) ? index : -1)).filter(
    (i) => i >= 0,
  );
  if (finite.length <= limit) return finite;
  const mean = finite.reduce((sum, index) => sum + values[index]!, 0) / finite.length;
  const far = (index: number) => Math.abs(values[index]! - mean);
  const kept: number[] = [];
  for (let stretch = 0; stretch < limit - 1; stretch++) {
    const from = Math.floor((stretch * finite.length) / (limit - 1));
    const to = Math.floor(((stretch + 1) * finite.length) / (limit - 1));
    kept.push(finite.slice(from, to).reduce((best, index) => (far(index) > far(best) ? index : best)));
  }
  const last = finite.at(-1)!;
  return kept.at(-1) === last ? kept : [...kept, last];
}
