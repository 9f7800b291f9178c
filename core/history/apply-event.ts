import { type JournalEvent, meaningOf } from '../run-directory/events.ts';
import type { Meaning } from '../run-directory/meaning.ts';
import type { HistoryDatabase } from './database.ts';
import type { MetricRows } from './metric-rows.ts';
import type { RunRow } from './runs-table.ts';
import { prepared } from './statements.ts';

/** The columns of a run's row that follow from its journal, before it is read. */
export const initialState = {
  status: 'created',
  iteration: 0,
  started_at: null,
  ended_at: null,
  phase: null,
  failure: null,
  stop_reason: null,
  pid: null,
  host: null,
  last_seq: -1,
  last_time: null,
  journal_problem: null,
  gap: 0,
  gap_before: 0,
  training_ms: 0,
} satisfies Partial<RunRow>;
export type JournalState = Pick<RunRow, keyof typeof initialState>;

/** The longest gap between events is measured per window of this many events. */
const gapWindow = 1000;

/**
 * Applies one event to the tables, to the run's state and to the metric rows, which the caller writes at the end of its batch. Call it once per event, in the order of
 * the journal.
 */
export function applyEvent(
  database: HistoryDatabase,
  runId: string,
  state: JournalState,
  rows: MetricRows,
  event: JournalEvent,
): void {
  const meaning = meaningOf(event);
  measureGap(state, event, meaning);
  state.last_seq = event.seq;
  state.last_time = event.time;
  applyToState(state, event, meaning);
  applyToTables(database, runId, rows, event, meaning);
}

/**
 * Adds the time since the previous event to the run's training time and to the longest gap of the current window. The state has the newest window
 * and the one before. Pauses and the time between two trainers don't count.
 */
function measureGap(state: JournalState, { seq, time }: JournalEvent, { begins }: Meaning): void {
  const windows = Math.floor(seq / gapWindow) - Math.floor(Math.max(0, state.last_seq) / gapWindow);
  if (windows > 0) {
    state.gap_before = windows === 1 ? state.gap : 0;
    state.gap = 0;
  }
  if (begins || state.status === 'paused' || state.last_time === null) return;
  const gap = time - state.last_time;
  state.gap = Math.max(state.gap, gap);
  state.training_ms += Math.max(0, gap);
}

function applyToState(state: JournalState, { time }: JournalEvent, meaning: Meaning): void {
  const { begins, ends, phase, paused, iteration } = meaning;
  if (begins) {
    const { after, pid, host } = begins;
    const reset = { ended_at: null, phase: null, failure: null, stop_reason: null };
    Object.assign(state, { status: 'running', pid, host, ...reset });
    state.started_at ??= time;
    state.iteration = Math.max(0, Math.min(state.iteration, after));
  }
  if (phase) state.phase = JSON.stringify(phase);
  if (paused !== undefined) state.status = paused ? 'paused' : 'running';
  if (iteration !== undefined) state.iteration = Math.max(state.iteration, iteration);
  if (ends) {
    const failure = ends.failure ? JSON.stringify(ends.failure) : state.failure;
    Object.assign(state, {
      ...{ status: ends.status, ended_at: time, phase: null },
      ...{ failure, stop_reason: ends.stopReason },
    });
  }
}

function applyToTables(
  database: HistoryDatabase,
  runId: string,
  rows: MetricRows,
  { time }: JournalEvent,
  { begins, metrics, evaluation, rollout, rolloutRemoved }: Meaning,
): void {
  if (begins) {
    rows.flush();
    dropAfter(database, runId, begins.after);
  }
  if (metrics) rows.add(metrics.iteration, metrics.values);
  if (metrics && evaluation) {
    prepared(
      database,
      'INSERT OR REPLACE INTO evaluations (run, iteration, label, time, metrics, panel) VALUES (?, ?, ?, ?, ?, ?)',
    ).run(runId, metrics.iteration, evaluation.label, time, JSON.stringify(metrics.values), evaluation.panel);
  }
  if (rollout) {
    const { iteration, split, file, index, episodes } = rollout;
    prepared(
      database,
      'INSERT OR REPLACE INTO rollouts (run, iteration, split, file, index_file, episodes) VALUES (?, ?, ?, ?, ?, ?)',
    ).run(runId, iteration, split, file, index, episodes);
  }
  if (rolloutRemoved) {
    const { iteration, split } = rolloutRemoved;
    prepared(database, 'UPDATE rollouts SET removed = 1 WHERE run = ? AND iteration = ? AND split = ?').run(
      runId,
      iteration,
      split,
    );
  }
}

/** A resumed run repeats the iterations after its checkpoint; a restarted run repeats all of them (-1). */
function dropAfter(database: HistoryDatabase, runId: string, iteration: number): void {
  for (const table of ['metrics', 'evaluations', 'rollouts'])
    prepared(database, `DELETE FROM ${table} WHERE run = ? AND iteration > ?`).run(runId, iteration);
}
