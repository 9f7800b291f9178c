import type { Statement } from 'better-sqlite3';
import type { HistoryDatabase } from './database.ts';

type Cache = Map<string, Statement>;

const whole = new WeakMap<HistoryDatabase, Cache>();
const first = new WeakMap<HistoryDatabase, Cache>();

/** A statement of a connection, prepared at its first use and kept: preparing costs more than most of them do. */
export function prepared<Parameters extends unknown[], Row>(
  database: HistoryDatabase,
  sql: string,
): Statement<Parameters, Row> {
  return lookUp(whole, database, sql, () => database.prepare(sql)) as Statement<Parameters, Row>;
}

/** The same for the first column alone. */
export function preparedValue<Parameters extends unknown[], Value>(
  database: HistoryDatabase,
  sql: string,
): Statement<Parameters, Value> {
  return lookUp(first, database, sql, () => database.prepare(sql).pluck()) as Statement<Parameters, Value>;
}

function lookUp(
  caches: WeakMap<HistoryDatabase, Cache>,
  database: HistoryDatabase,
  sql: string,
  prepare: () => Statement,
): Statement {
  const cache = caches.get(database) ?? new Map();
  caches.set(database, cache);
  const statement = cache.get(sql) ?? prepare();
  cache.set(sql, statement);
  return statement;
}

/**
 * Events of few of a run's types, in SQL: by their types' index. SQLite would rather go through all of a run's events, of which there may be a million, since they stand
 * in the wanted order.
 */
export const eventsByType = 'events INDEXED BY events_by_type';
