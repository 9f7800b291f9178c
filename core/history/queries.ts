import type {
  FirstStepCheck,
  LogLine,
  MemoryPlan,
  PanelHash,
  RolloutFile,
  RunSummary,
  Series,
} from '../contract/contract.ts';
import { type EventType, hasLogLine, meaningOf, numbersOf } from '../run-directory/events.ts';
import type { Meaning } from '../run-directory/meaning.ts';
import type { RolloutPaths } from '../run-directory/rollouts.ts';
import type { HistoryDatabase } from './database.ts';
import { getRun, type RunRow } from './runs-table.ts';
import { eventsByType, prepared, preparedValue } from './statements.ts';

export interface StoredEvent {
  seq: number;
  time: number;
  type: EventType | (string & {});
  /** JSON of the event's own fields. */
  body: string;
}

/** Returns up to `limit` events after a `seq`, in order, without `phase` events. */
export function eventsAfter(
  database: HistoryDatabase,
  runId: string,
  seq: number,
  { limit = 1000 }: { limit?: number } = {},
): StoredEvent[] {
  return prepared<[string, number, number], StoredEvent>(
    database,
    'SELECT seq, time, type, body FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?',
  ).all(runId, seq, limit);
}

/** Returns the meaning of a stored event. */
export function storedMeaning({ type, body }: Pick<StoredEvent, 'type' | 'body'>): Meaning {
  return meaningOf({ type, body: JSON.parse(body) });
}

/** Returns every point of metric series, sorted by name; all metrics without `names`. Includes iterations above `after`, up to `upTo`. */
export function readSeries(
  database: HistoryDatabase,
  runId: string,
  names?: readonly string[],
  after = -1,
  upTo: number = Number.MAX_SAFE_INTEGER,
): Series[] {
  const rows = prepared<
    [string, number, number, string | null, string | null],
    { name: string; iteration: number; value: number }
  >(
    database,
    `SELECT name, iteration, value FROM metrics
     WHERE run = ? AND iteration > ? AND iteration <= ? AND (? IS NULL OR name IN (SELECT value FROM json_each(?))) ORDER BY name, iteration`,
  ).all(runId, after, upTo, ...twice(names ? JSON.stringify(names) : null));
  const series = new Map<string, Series>();
  for (const { name, iteration, value } of rows) {
    const entry = series.get(name) ?? { name, iterations: [], values: [] };
    series.set(name, entry);
    entry.iterations.push(iteration);
    entry.values.push(value);
  }
  return [...series.values()];
}

const twice = <T>(value: T): [T, T] => [value, value];

/** Metrics that a run's card shows besides its newest evaluations. */
const cardMetrics = [
  'rollout/success_rate',
  'rollout/reward_mean',
  'rollout/reward_std_in_group',
  'rollout/entropy',
  'rollout/response_tokens',
  'actor/grad_norm',
  'throughput/generated_tokens_per_second',
  'warm_start/loss',
];

/** Returns the newest values of the card's metrics and of all evaluation metrics, by full name. */
export function latestMetrics(database: HistoryDatabase, runId: string): Record<string, number> {
  const newest = preparedValue<[string, string], number>(
    database,
    'SELECT value FROM metrics WHERE run = ? AND name = ? ORDER BY iteration DESC LIMIT 1',
  );
  const evaluations = prepared<[string], { metrics: string; iteration: number }>(
    database,
    'SELECT metrics, max(iteration) AS iteration FROM evaluations WHERE run = ? GROUP BY label',
  ).all(runId);
  const latest: Record<string, number> = {};
  for (const name of cardMetrics) {
    const value = newest.get(runId, name);
    if (value !== undefined) latest[name] = value;
  }
  for (const { metrics } of evaluations) Object.assign(latest, numbersOf(JSON.parse(metrics)));
  return latest;
}

/** Returns the panels of a run's newest evaluations, by label. */
export const evaluationPanels = (database: HistoryDatabase, runId: string): PanelHash[] =>
  prepared<[string], PanelHash & { iteration: number }>(
    database,
    'SELECT label, panel AS hash, max(iteration) AS iteration FROM evaluations WHERE run = ? AND panel NOT NULL GROUP BY label',
  )
    .all(runId)
    .map(({ label, hash }) => ({ label, hash }));

/**
 * Returns the mean time (ms) of the last `count` iterations since the trainer's last start, evaluations included and pauses excluded.
 * Returns null without a complete iteration after the first.
 */
export function recentPace(database: HistoryDatabase, runId: string, count: number): number | null {
  const events = prepared<[string, string], { time: number; type: string }>(
    database,
    `SELECT time, type FROM events WHERE run = ? AND type IN ('iteration', 'paused', 'resumed')
     AND seq > (SELECT max(seq) FROM ${eventsByType} WHERE run = ? AND type = 'started') ORDER BY seq DESC`,
  ).iterate(runId, runId);
  let last: number | null = null;
  let first = 0;
  let iterations = 0;
  let resumed: number | null = null;
  let paused = 0;
  /** Pauses since the last read iteration. They count if another iteration precedes them. */
  let pending = 0;
  for (const { time, type } of events) {
    if (type === 'iteration') {
      if (last === null) last = time;
      else paused += pending;
      pending = 0;
      first = time;
      if (iterations++ === count) break;
    } else if (type === 'resumed') resumed = time;
    else {
      if (resumed !== null) pending += resumed - time;
      resumed = null;
    }
  }
  return last === null || iterations < 2 ? null : (last - first - paused) / (iterations - 1);
}

export function listRollouts(database: HistoryDatabase, runId: string): RolloutFile[] {
  return prepared<[string], RolloutFile>(
    database,
    'SELECT iteration, split, episodes FROM rollouts WHERE run = ? AND removed = 0 ORDER BY iteration, split',
  ).all(runId);
}

export function findRollout(
  database: HistoryDatabase,
  runId: string,
  iteration: number,
  split: string,
): (RolloutPaths & { removed: 0 | 1 }) | undefined {
  return prepared<[string, number, string], RolloutPaths & { removed: 0 | 1 }>(
    database,
    'SELECT file, index_file AS "index", removed FROM rollouts WHERE run = ? AND iteration = ? AND split = ?',
  ).get(runId, iteration, split);
}

/** Returns a run's log lines in the order of the journal. Problems with the run's files come first, with a negative `seq`. */
export function readLog(database: HistoryDatabase, runId: string): LogLine[] {
  const types = typesOf(database, runId).filter(hasLogLine);
  const lines = prepared<[string, string], StoredEvent>(
    database,
    `SELECT seq, time, type, body FROM ${eventsByType} WHERE run = ? AND type IN (SELECT value FROM json_each(?)) ORDER BY seq`,
  )
    .all(runId, JSON.stringify(types))
    .flatMap((event) => toLogLine(event) ?? []);
  const run = getRun(database, runId);
  return run ? [...fileProblems(run), ...lines] : lines;
}

/** Returns the types of a run's events with one index lookup per type. */
function typesOf(database: HistoryDatabase, runId: string): string[] {
  const types = preparedValue<[string, string], string>(
    database,
    `WITH RECURSIVE types (type) AS (
       SELECT min(type) FROM ${eventsByType} WHERE run = ?
       UNION ALL
       SELECT (SELECT min(events.type) FROM ${eventsByType} WHERE run = ? AND events.type > types.type) FROM types WHERE type IS NOT NULL)
     SELECT type FROM types WHERE type IS NOT NULL`,
  );
  return types.all(runId, runId);
}

/** Returns a log line per file of the run with skipped lines. */
function fileProblems(run: RunRow): LogLine[] {
  const { annotations_problem: message, last_time, created_at } = run;
  const problem = journalProblem(run);
  return [
    ...(message ? [{ seq: -2, time: last_time ?? created_at, level: 'warning' as const, message }] : []),
    ...(problem ? [problem] : []),
  ];
}

/** Returns a log line about invalid lines of the journal, or null. */
export function journalProblem({ journal_problem, last_time, created_at }: RunRow): LogLine | null {
  if (journal_problem === null) return null;
  return { seq: -1, time: last_time ?? created_at, level: 'warning', message: journal_problem };
}

/** Returns a run's newest memory plan, or null if there is none. */
export const readMemoryPlan = (database: HistoryDatabase, runId: string): MemoryPlan | null =>
  newestBody<MemoryPlan>(database, runId, 'memory_plan');

/** Returns a run's newest first-step check, or null if there is none. */
export const readFirstStepCheck = (database: HistoryDatabase, runId: string): FirstStepCheck | null =>
  newestBody<FirstStepCheck>(database, runId, 'first_step_check');

/** Returns the fields of a run's newest event of a type, or null if there is none. */
function newestBody<Body>(database: HistoryDatabase, runId: string, type: EventType): Body | null {
  const body = preparedValue<[string, string], string>(
    database,
    `SELECT body FROM ${eventsByType} WHERE run = ? AND type = ? ORDER BY seq DESC LIMIT 1`,
  ).get(runId, type);
  return body === undefined ? null : JSON.parse(body);
}

/** Returns null for events without a log line. */
function toLogLine(event: StoredEvent): LogLine | null {
  const { line } = storedMeaning(event);
  return line ? { seq: event.seq, time: event.time, ...line } : null;
}

/** Returns the success rates of a run's evaluations at an iteration, in [0, 1]. */
export function successAt(
  database: HistoryDatabase,
  runId: string,
  iteration: number,
): { label: string; rate: number }[] {
  return prepared<[string, number], { label: string; metrics: string }>(
    database,
    'SELECT label, metrics FROM evaluations WHERE run = ? AND iteration = ? ORDER BY label',
  )
    .all(runId, iteration)
    .flatMap(({ label, metrics }) => {
      const rate = JSON.parse(metrics)[`evaluation/${label}/success_rate`];
      return typeof rate === 'number' ? [{ label, rate }] : [];
    });
}

/** Returns every evaluated iteration, oldest first, with its mean success rate over the environments. */
export function checkpointResults(database: HistoryDatabase, runId: string): { iteration: number; rate: number }[] {
  return preparedValue<[string], number>(
    database,
    'SELECT DISTINCT iteration FROM evaluations WHERE run = ? ORDER BY iteration',
  )
    .all(runId)
    .flatMap((iteration) => {
      const rates = successAt(database, runId, iteration).map(({ rate }) => rate);
      return rates.length === 0 ? [] : [{ iteration, rate: rates.reduce((sum, rate) => sum + rate, 0) / rates.length }];
    });
}

/** Returns the machine of a run's last trainer, or null if there was none. */
export function lastMachine(database: HistoryDatabase, runId: string): RunSummary['machine'] {
  const body = preparedValue<[string], string>(
    database,
    `SELECT body FROM ${eventsByType} WHERE run = ? AND type = 'started' ORDER BY seq DESC LIMIT 1`,
  ).get(runId);
  if (body === undefined) return null;
  const { host, device, device_name: name = null, device_uuid: uuid = null, threads, build = null } = JSON.parse(body);
  return { host, device, uuid, name, threads, build };
}

/** Returns whether a trainer of a run started, or failed to, after an event. */
export function wasStartedAfter(database: HistoryDatabase, runId: string, seq: number): boolean {
  const start = preparedValue<[string, number], number>(
    database,
    `SELECT 1 FROM ${eventsByType} WHERE run = ? AND type IN ('started', 'failed') AND seq > ? LIMIT 1`,
  );
  return start.get(runId, seq) !== undefined;
}

/** Returns the time (ms) of the last `started` event, or null if there is none. */
export function lastStart(database: HistoryDatabase, runId: string): number | null {
  const time = preparedValue<[string], number | null>(
    database,
    `SELECT max(time) FROM ${eventsByType} WHERE run = ? AND type = 'started'`,
  );
  return time.get(runId) ?? null;
}
