import type { Statement } from 'better-sqlite3';
import type { HistoryDatabase } from './database.ts';

type Cache = Map<string, Statement>;

const rowStatements = new WeakMap<HistoryDatabase, Cache>();
const valueStatements = new WeakMap<HistoryDatabase, Cache>();

/** Returns a cached statement of a connection, because preparing most statements costs more than running them. */
export function prepared<Parameters extends unknown[], Row>(
  database: HistoryDatabase,
  sql: string,
): Statement<Parameters, Row> {
  return lookUp(rowStatements, database, sql, () => database.prepare(sql)) as Statement<Parameters, Row>;
}

/** Returns a cached statement for the first column. */
export function preparedValue<Parameters extends unknown[], Value>(
  database: HistoryDatabase,
  sql: string,
): Statement<Parameters, Value> {
  return lookUp(valueStatements, database, sql, () => database.prepare(sql).pluck()) as Statement<Parameters, Value>;
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
 * The events table with its type index, for queries of a few types. Without it, SQLite scans all events of the run, up to a million, because they
 * are in the requested order.
 */
export const eventsByType = 'events INDEXED BY events_by_type';
