import type { IterationTimes, Series } from '../contract/contract.ts';
import type { HistoryDatabase } from './database.ts';
import { readSeries } from './queries.ts';
import { eventsByType, prepared, preparedValue } from './statements.ts';

export interface SeriesRange {
  names?: readonly string[] | undefined;
  /** Excludes iterations up to and including this value. */
  after?: number | undefined;
  /** Excludes iterations above this value. */
  upTo?: number | undefined;
  /** Number of buckets; without it, every point is returned. */
  resolution?: number | undefined;
}

/**
 * Returns a run's series in a range of iterations. If the longest spans more iterations than twice the resolution, points are combined into buckets
 * of equally many iterations (a power of two), each with mean, minimum, maximum and count. The first and the last point remain.
 */
export function readSeriesAt(
  database: HistoryDatabase,
  runId: string,
  { names, after = -1, upTo = Number.MAX_SAFE_INTEGER, resolution }: SeriesRange,
): Series[] {
  if (resolution === undefined) return readSeries(database, runId, names, after, upTo);
  const spans = (names ?? metricNames(database, runId)).flatMap((name) => {
    const span = spanOf(database, runId, name, after, upTo);
    return span ? [{ name, ...span }] : [];
  });
  const longest = Math.max(0, ...spans.map(({ first, last }) => last - first));
  if (longest <= 2 * resolution) return readSeries(database, runId, names, after, upTo);
  const step = 2 ** Math.ceil(Math.log2(longest / resolution));
  return spans.map((span) => bucketed(database, runId, span, step));
}

interface Span {
  name: string;
  first: number;
  last: number;
}

interface Bucket {
  iteration: number | null;
  mean: number;
  min: number;
  max: number;
  count: number;
}

/** Runs one query per bucket: its rows are adjacent, and SQLite aggregates them. */
function bucketed(database: HistoryDatabase, runId: string, { name, first, last }: Span, step: number): Series {
  const statement = prepared<[string, string, number, number], Bucket>(
    database,
    `SELECT max(iteration) AS iteration, avg(value) AS mean, min(value) AS min, max(value) AS max, count(*) AS count
     FROM metrics WHERE run = ? AND name = ? AND iteration > ? AND iteration <= ?`,
  );
  const buckets = { min: [] as number[], max: [] as number[], counts: [] as number[] };
  const series = { name, iterations: [] as number[], values: [] as number[], buckets };
  const add = (from: number, to: number) => {
    const { iteration, mean, min, max, count } = statement.get(runId, name, from, to)!;
    if (iteration === null) return;
    series.iterations.push(iteration);
    series.values.push(mean);
    buckets.min.push(min);
    buckets.max.push(max);
    buckets.counts.push(count);
  };
  add(first - 1, first);
  for (let from = first; from < last - 1; ) {
    const to = Math.min(last - 1, (Math.floor(from / step) + 1) * step);
    add(from, to);
    from = to;
  }
  if (last > first) add(last - 1, last);
  return series;
}

/** Jumps from name to name instead of scanning every point. */
function metricNames(database: HistoryDatabase, runId: string): string[] {
  return preparedValue<[string, string], string>(
    database,
    `WITH RECURSIVE names (name) AS (
       SELECT min(name) FROM metrics WHERE run = ?
       UNION ALL
       SELECT (SELECT min(name) FROM metrics WHERE run = ? AND name > names.name) FROM names WHERE names.name IS NOT NULL
     ) SELECT name FROM names WHERE name IS NOT NULL`,
  ).all(runId, runId);
}

function spanOf(
  database: HistoryDatabase,
  runId: string,
  name: string,
  after: number,
  upTo: number,
): { first: number; last: number } | null {
  const end = (direction: 'ASC' | 'DESC') =>
    preparedValue<[string, string, number, number], number>(
      database,
      `SELECT iteration FROM metrics WHERE run = ? AND name = ? AND iteration > ? AND iteration <= ?
       ORDER BY iteration ${direction} LIMIT 1`,
    ).get(runId, name, after, upTo);
  const first = end('ASC');
  return first === undefined ? null : { first, last: end('DESC')! };
}

/** Maximum number of points. The UI interpolates between them. */
const maxTimes = 2048;

/** Returns when iterations ended according to the journal; the last time counts for repeated ones. Long series are sampled evenly. */
export function readIterationTimes(database: HistoryDatabase, runId: string): IterationTimes {
  const bound = (end: 'min' | 'max') =>
    preparedValue<[string], number | null>(
      database,
      `SELECT ${end}(seq) FROM events WHERE run = ? AND type = 'iteration'`,
    ).get(runId) ?? null;
  const started = preparedValue<[string], number | null>(
    database,
    `SELECT min(time) FROM ${eventsByType} WHERE run = ? AND type = 'started'`,
  ).get(runId);
  const points: { iteration: number; time: number }[] = [];
  if (typeof started === 'number') points.push({ iteration: 0, time: started });
  const [first, last] = [bound('min'), bound('max')];
  if (first === null || last === null) return columnsOf(points);
  const next = prepared<[string, number], { seq: number; time: number; iteration: number }>(
    database,
    `SELECT seq, time, json_extract(body, '$.iteration') AS iteration FROM ${eventsByType}
     WHERE run = ? AND type = 'iteration' AND seq >= ? ORDER BY seq LIMIT 1`,
  );
  const stride = Math.max(1, Math.floor((last - first) / maxTimes));
  for (let seq = first; seq <= last; ) {
    const event = next.get(runId, seq)!;
    while (points.length > 0 && points.at(-1)!.iteration >= event.iteration) points.pop();
    points.push({ iteration: event.iteration, time: event.time });
    // Always include the newest event.
    seq = event.seq < last ? Math.min(last, event.seq + stride) : last + 1;
  }
  return columnsOf(points);
}

const columnsOf = (points: readonly { iteration: number; time: number }[]): IterationTimes => ({
  iterations: points.map(({ iteration }) => iteration),
  times: points.map(({ time }) => time),
});
