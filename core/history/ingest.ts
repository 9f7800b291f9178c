import { type JournalEvent, parseEvent } from '../run-directory/events.ts';
import { readTail } from '../run-directory/journal-tail.ts';
import { applyEvent, initialState, type JournalState } from './apply-event.ts';
import type { HistoryDatabase } from './database.ts';
import { recordIngested, wasEdited } from './journal-check.ts';
import { MetricRows } from './metric-rows.ts';
import { prepared, preparedValue } from './statements.ts';

const columns = Object.keys(initialState) as (keyof JournalState)[];

/**
 * Ingests new events of a run: one batch in one transaction, together with the byte offset to continue from.
 * Skips a batch that was ingested, for example by a rebuild. A crash at any point neither loses nor duplicates events.
 * Returns whether there may be more.
 */
export function ingestBatch(database: HistoryDatabase, runId: string, journal: string, limit?: number): boolean {
  const position = preparedValue<[string], number>(database, 'SELECT journal_offset FROM runs WHERE id = ?');
  const offset = position.get(runId);
  if (offset === undefined) return false;
  const tail = readTail(journal, offset, limit);
  const replaced = tail.replaced || wasEdited(database, runId, journal, offset, tail);
  if (!replaced && tail.lines.length === 0) return false;

  const store = database.transaction((events: (JournalEvent | null)[]) => {
    if (position.get(runId) !== offset) return true;
    if (replaced) {
      resetRun(database, runId);
      return true;
    }
    storeEvents(database, runId, events, tail.next);
    recordIngested(database, runId, offset, tail);
    return tail.more;
  });
  return store.immediate(tail.lines.map(parseEvent));
}

/** Ingests all events. */
export function ingestAll(database: HistoryDatabase, runId: string, journal: string): void {
  while (ingestBatch(database, runId, journal));
}

/** Stores no rows for `phase` events: they are the most frequent ones, and only the newest phase matters. */
function storeEvents(
  database: HistoryDatabase,
  runId: string,
  events: readonly (JournalEvent | null)[],
  next: number,
): void {
  const insert = prepared(
    database,
    'INSERT INTO events (run, seq, time, type, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const state = prepared<[string], JournalState>(database, `SELECT ${columns.join(', ')} FROM runs WHERE id = ?`).get(
    runId,
  )!;
  const rows = new MetricRows(database, runId);
  for (const event of events) {
    if (!event) {
      state.journal_problem ??= 'The journal has invalid lines, which were skipped.';
    } else if (event.type === 'phase') {
      if (event.seq > state.last_seq) applyEvent(database, runId, state, rows, event);
    } else {
      const type = event.type === 'unknown' ? event.name : event.type;
      const { changes } = insert.run(runId, event.seq, event.time, type, JSON.stringify(event.body));
      if (changes === 1) applyEvent(database, runId, state, rows, event);
    }
  }
  rows.flush();
  writeState(database, runId, state, next);
}

/** Prepares a run for ingestion from the start of its journal, because the journal was replaced or edited. */
function resetRun(database: HistoryDatabase, runId: string): void {
  for (const table of ['events', 'metrics', 'evaluations', 'rollouts', 'echo_trap'])
    prepared(database, `DELETE FROM ${table} WHERE run = ?`).run(runId);
  writeState(database, runId, initialState, 0);
}

function writeState(database: HistoryDatabase, runId: string, state: JournalState, offset: number): void {
  const assignments = columns.map((column) => `${column} = ?`).join(', ');
  prepared(database, `UPDATE runs SET ${assignments}, journal_offset = ? WHERE id = ?`).run(
    ...columns.map((column) => state[column]),
    offset,
    runId,
  );
}
