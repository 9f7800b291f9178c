import type { RunStatus, RunSummary } from '../api/contract.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { latestMetrics, recentIterationTimes } from '../history/queries.ts';
import type { RunRow } from '../history/runs-table.ts';

/** Iterations whose pace the estimate of the remaining time goes by. */
const paceWindow = 10;

/** A run's row with what follows from it; `alive` false: its trainer is known to be gone. */
export function toSummary(database: HistoryDatabase, row: RunRow, alive: boolean): RunSummary {
  const status = statusOf(row, alive);
  const active = status === 'running' || status === 'paused';
  return {
    id: row.id,
    name: row.name,
    preset: row.preset,
    task: row.task,
    environments: JSON.parse(row.environments),
    status,
    iteration: row.iteration,
    iterations: row.iterations,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: status === 'interrupted' ? row.last_time : row.ended_at,
    phase: active && row.phase ? JSON.parse(row.phase) : null,
    etaSeconds: status === 'running' ? estimate(database, row) : null,
    latest: latestMetrics(database, row.id),
    failure: row.failure ? JSON.parse(row.failure) : null,
  };
}

/** Without a living trainer and without an end in its journal, a run was interrupted. */
function statusOf(row: RunRow, alive: boolean): RunStatus {
  const open = row.status === 'running' || row.status === 'paused';
  return open && !alive ? 'interrupted' : row.status;
}

function estimate(database: HistoryDatabase, row: RunRow): number | null {
  const times = recentIterationTimes(database, row.id, paceWindow + 1);
  if (times.length < 2) return null;
  const pace = (times.at(-1)! - times[0]!) / (times.length - 1) / 1000;
  return Math.max(0, (row.iterations - row.iteration) * pace);
}
