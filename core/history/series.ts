import type { IterationTimes, Series } from '../contract/contract.ts';
import type { HistoryDatabase } from './database.ts';
import { readSeries } from './queries.ts';
import { eventsByType, prepared, preparedValue } from './statements.ts';

/** Series as fine as a chart can show them, and when iterations ended. */

export interface SeriesRange {
  names?: readonly string[] | undefined;
  /** Only iterations above it. */
  after?: number | undefined;
  /** Only iterations up to it. */
  upTo?: number | undefined;
  /** Buckets that the range may be cut into; without it, every point is read. */
  resolution?: number | undefined;
}

/**
 * A run's series in a range of iterations. Where the longest of them spans more iterations than twice the resolution, stretches of equally many iterations (a power of
 * two, the same for all of them) are read as one: their mean, least and greatest value, and how many points they are. The first and the last point stay as they are.
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
  least: number;
  most: number;
  count: number;
}

/** One look-up for each stretch: all of its rows stand together, and none of them leaves SQLite. */
function bucketed(
  database: HistoryDatabase,
  runId: string,
  { name, first, last }: Span,
  step: number,
): Series {
  const statement = prepared<[string, string, number, number], Bucket>(
    database,
    `SELECT max(iteration) AS iteration, avg(value) AS mean, min(value) AS least, max(value) AS most, count(*) AS count
     FROM metrics WHERE run = ? AND name = ? AND iteration > ? AND iteration <= ?`,
  );
  const buckets = { least: [] as number[], most: [] as number[], counts: [] as number[] };
  const series = { name, iterations: [] as number[], values: [] as number[], buckets };
  const add = (from: number, to: number) => {
    const { iteration, mean, least, most, count } = statement.get(runId, name, from, to)!;
    if (iteration === null) return;
    series.iterations.push(iteration);
    series.values.push(mean);
    buckets.least.push(least);
    buckets.most.push(most);
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

/** One step from name to name, rather than over every point. */
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

/** Maximum number of points. Times between two points are interpolated. */
const mostTimes = 2048;

/** Returns when iterations ended according to the journal; the last time counts for repeated ones. Long series are sampled evenly. */
export function readIterationTimes(database: HistoryDatabase, runId: string): IterationTimes {
  const bound = (of: 'min' | 'max') =>
    preparedValue<[string], number | null>(
      database,
      `SELECT ${of}(seq) FROM events WHERE run = ? AND type = 'iteration'`,
    ).get(runId) ?? null;
  const started = preparedValue<[string], number | null>(
    database,
    `SELECT min(time) FROM ${eventsByType} WHERE run = ? AND type = 'started'`,
  ).get(runId);
  const told: { iteration: number; time: number }[] = [];
  if (typeof started === 'number') told.push({ iteration: 0, time: started });
  const [first, last] = [bound('min'), bound('max')];
  if (first === null || last === null) return columnsOf(told);
  const next = prepared<[string, number], { seq: number; time: number; iteration: number }>(
    database,
    `SELECT seq, time, json_extract(body, '$.iteration') AS iteration FROM ${eventsByType}
     WHERE run = ? AND type = 'iteration' AND seq >= ? ORDER BY seq LIMIT 1`,
  );
  const stride = Math.max(1, Math.floor((last - first) / mostTimes));
  for (let seq = first; seq <= last; ) {
    const event = next.get(runId, seq)!;
    while (told.length > 0 && told.at(-1)!.iteration >= event.iteration) told.pop();
    told.push({ iteration: event.iteration, time: event.time });
    // The newest is among them, whatever the stride.
    seq = event.seq < last ? Math.min(last, event.seq + stride) : last + 1;
  }
  return columnsOf(told);
}

const columnsOf = (told: readonly { iteration: number; time: number }[]): IterationTimes => ({
  iterations: told.map(({ iteration }) => iteration),
  times: told.map(({ time }) => time),
});
