import type { JournalEvent } from '../run-directory/events.ts';
import type { HistoryDatabase } from './database.ts';

/** What an event means for a run's row, metrics, evaluations and rollouts. Called once for each event, in the journal's order. */
export function applyEvent(database: HistoryDatabase, runId: string, event: JournalEvent): void {
  const update = (assignments: string, ...values: unknown[]) =>
    database.prepare(`UPDATE runs SET ${assignments} WHERE id = ?`).run(...values, runId);
  update('last_seq = ?, last_time = ?', event.seq, event.time);

  switch (event.type) {
    case 'started': {
      const { resume, pid, host } = event.body;
      update(
        `status = 'running', pid = ?, host = ?, started_at = coalesce(started_at, ?), ended_at = NULL, phase = NULL, failure = NULL`,
        pid,
        host,
        event.time,
      );
      dropAfter(database, runId, resume?.iteration ?? -1);
      break;
    }
    case 'phase': {
      const { name, iteration, done, total } = event.body;
      update('phase = ?', JSON.stringify({ name, iteration, done, total }));
      break;
    }
    case 'iteration':
      update('iteration = max(iteration, ?)', event.body.iteration);
      replaceMetrics(database, runId, event.body.iteration, event.body.metrics);
      break;
    case 'evaluation': {
      const { iteration, label, metrics } = event.body;
      database
        .prepare(
          'INSERT OR REPLACE INTO evaluations (run, iteration, label, time, metrics) VALUES (?, ?, ?, ?, ?)',
        )
        .run(runId, iteration, label, event.time, JSON.stringify(metrics));
      replaceMetrics(database, runId, iteration, metrics);
      break;
    }
    case 'rollout': {
      const { iteration, split, file, index, episodes } = event.body;
      database
        .prepare(
          'INSERT OR REPLACE INTO rollouts (run, iteration, split, file, index_file, episodes) VALUES (?, ?, ?, ?, ?, ?)',
        )
        .run(runId, iteration, split, file, index, episodes);
      break;
    }
    case 'rollout_removed': {
      const { iteration, split } = event.body;
      database
        .prepare('UPDATE rollouts SET removed = 1 WHERE run = ? AND iteration = ? AND split = ?')
        .run(runId, iteration, split);
      break;
    }
    case 'paused':
      update(`status = 'paused'`);
      break;
    case 'resumed':
      update(`status = 'running'`);
      break;
    case 'stopped':
      update(
        'status = ?, ended_at = ?, phase = NULL',
        event.body.reason === 'completed' ? 'completed' : 'stopped',
        event.time,
      );
      break;
    case 'failed': {
      const { code, message, hint } = event.body;
      update(
        `status = 'failed', ended_at = ?, phase = NULL, failure = ?`,
        event.time,
        JSON.stringify({ code, message, hint }),
      );
      break;
    }
  }
}

function replaceMetrics(
  database: HistoryDatabase,
  runId: string,
  iteration: number,
  metrics: Record<string, number>,
): void {
  const insert = database.prepare(
    'INSERT OR REPLACE INTO metrics (run, name, iteration, value) VALUES (?, ?, ?, ?)',
  );
  for (const [name, value] of Object.entries(metrics)) insert.run(runId, name, iteration, value);
}

/** A resumed run does the iterations after its checkpoint again; one that begins anew does all of them (-1). */
function dropAfter(database: HistoryDatabase, runId: string, iteration: number): void {
  for (const table of ['metrics', 'evaluations', 'rollouts']) {
    database.prepare(`DELETE FROM ${table} WHERE run = ? AND iteration > ?`).run(runId, iteration);
  }
  database
    .prepare('UPDATE runs SET iteration = max(0, min(iteration, ?)) WHERE id = ?')
    .run(iteration, runId);
}
