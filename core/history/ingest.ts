import { type JournalEvent, parseEvent } from '../run-directory/events.ts';
import { readTail } from '../run-directory/journal-tail.ts';
import { applyEvent } from './apply-event.ts';
import type { HistoryDatabase } from './database.ts';

interface Position {
  journal_offset: number;
}

/**
 * Takes what is new in a run's journal into the history: one batch, one transaction, together with the byte offset to go on from.
 * A batch that was taken in the meantime, as by a rebuild, is left alone. Whoever dies at any point loses and doubles nothing.
 * Gives whether there may be more.
 */
export function ingestBatch(
  database: HistoryDatabase,
  runId: string,
  journal: string,
  limit?: number,
): boolean {
  const readPosition = database.prepare<[string], Position>('SELECT journal_offset FROM runs WHERE id = ?');
  const before = readPosition.get(runId);
  if (!before) return false;
  const offset = before.journal_offset;
  const tail = readTail(journal, offset, limit);
  if (!tail.replaced && tail.lines.length === 0) return false;

  const take = database.transaction((events: (JournalEvent | null)[]) => {
    if (readPosition.get(runId)?.journal_offset !== offset) return true;
    if (tail.replaced) {
      forgetJournal(database, runId);
      return true;
    }
    storeEvents(database, runId, events);
    database.prepare('UPDATE runs SET journal_offset = ? WHERE id = ?').run(tail.next, runId);
    return tail.more;
  });
  return take.immediate(tail.lines.map(parseEvent));
}

/** Takes in all that is there now, letting other work through between batches. */
export async function ingestAll(
  database: HistoryDatabase,
  runId: string,
  journal: string,
  limit?: number,
): Promise<void> {
  while (ingestBatch(database, runId, journal, limit)) await new Promise((resolve) => setImmediate(resolve));
}

/** The same at one go, for the inside of a transaction. */
export function ingestAtOnce(database: HistoryDatabase, runId: string, journal: string): void {
  while (ingestBatch(database, runId, journal));
}

function storeEvents(database: HistoryDatabase, runId: string, events: (JournalEvent | null)[]): void {
  const insert = database.prepare(
    'INSERT INTO events (run, seq, time, type, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  for (const event of events) {
    if (!event) {
      noteProblem(database, runId);
      continue;
    }
    const type = event.type === 'unknown' ? event.name : event.type;
    const { changes } = insert.run(runId, event.seq, event.time, type, JSON.stringify(event.body));
    if (changes === 1) applyEvent(database, runId, event);
  }
}

function noteProblem(database: HistoryDatabase, runId: string): void {
  const message = 'The journal has lines that are no events; they were skipped.';
  database
    .prepare('UPDATE runs SET journal_problem = coalesce(journal_problem, ?) WHERE id = ?')
    .run(message, runId);
}

/** A journal that is shorter than what was read of it is another one: it is read from its start. */
function forgetJournal(database: HistoryDatabase, runId: string): void {
  for (const table of ['events', 'metrics', 'evaluations', 'rollouts']) {
    database.prepare(`DELETE FROM ${table} WHERE run = ?`).run(runId);
  }
  database
    .prepare(
      `UPDATE runs SET status = 'created', iteration = 0, started_at = NULL, ended_at = NULL, phase = NULL, failure = NULL, pid = NULL,
       host = NULL, journal_offset = 0, last_seq = -1, last_time = NULL, journal_problem = NULL WHERE id = ?`,
    )
    .run(runId);
}
