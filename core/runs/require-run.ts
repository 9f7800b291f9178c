import { runUnknown } from '../contract/failure.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { getRun, type RunRow } from '../history/runs-table.ts';

/** Returns a run's row. Throws `run_unknown`. */
export function requireRun(database: HistoryDatabase, runId: string): RunRow {
  const row = getRun(database, runId);
  if (row) return row;
  throw runUnknown(runId);
}
