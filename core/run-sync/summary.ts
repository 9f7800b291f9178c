import type { ApiError, RunJob, RunStatus, RunSummary, Stall } from '../contract/contract.ts';
import { isLive } from '../contract/run-facts.ts';
import { lastAction, readMarks } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { evaluationPanels, lastMachine, latestMetrics, recentPace } from '../history/queries.ts';
import type { CollapseReader } from '../history/run-collapse.ts';
import { readTrapBrief } from '../history/run-monitors.ts';
import type { RunRow } from '../history/runs-table.ts';
import { nameInStudy } from './study-files.ts';

/** Recent iterations used to estimate the remaining time. */
const paceWindow = 10;

/** The part of a run's state that is not in its row. */
interface LiveState {
  /** Whether a trainer may be running. */
  alive: boolean;
  queuePosition: number | null;
  stalled: Stall | null;
  job: RunJob | null;
  study: RunSummary['study'];
}

/** Reads the part of a summary that takes several queries. It changes only with stored events, annotations and the Echo Trap monitor. */
export const readStoredPart = (database: HistoryDatabase, row: RunRow, collapse: CollapseReader) => ({
  pace: recentPace(database, row.id, paceWindow),
  machine: lastMachine(database, row.id),
  latest: latestMetrics(database, row.id),
  panels: evaluationPanels(database, row.id),
  marks: readMarks(database, row),
  trap: readTrapBrief(database, row.id),
  collapse: collapse.read(),
  lastAction: lastAction(database, row.id),
});
export type StoredPart = ReturnType<typeof readStoredPart>;

/** Returns the summary of a run for clients. */
export function toSummary(
  row: RunRow,
  { pace, ...stored }: StoredPart,
  { alive, queuePosition, stalled, job, study }: LiveState,
): RunSummary {
  const ownStatus = statusOf(row, alive);
  const isQueued = queuePosition !== null && !['running', 'paused', 'completed'].includes(ownStatus);
  const status = isQueued ? 'queued' : ownStatus;
  const active = isLive(status);
  const parent: RunSummary['parent'] = JSON.parse(row.parent);
  return {
    id: row.id,
    name: row.given_name || (study ? nameInStudy(study) : row.name),
    preset: row.preset,
    task: row.task,
    environments: JSON.parse(row.environments),
    algorithm: row.algorithm,
    device: row.device,
    status,
    // A fork continues the count of its parent's checkpoint.
    iteration: Math.max(row.iteration, parent?.iteration ?? 0),
    iterations: row.iterations,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: ownStatus === 'interrupted' ? row.last_time : row.ended_at,
    trainingSeconds: row.training_ms / 1000,
    phase: active && row.phase ? JSON.parse(row.phase) : null,
    etaSeconds: status === 'running' ? estimate(pace, row) : null,
    failure: failureOf(row),
    stopReason: row.stop_reason,
    queuePosition: isQueued ? queuePosition : null,
    stalled,
    job,
    study,
    parent,
    ...stored,
  };
}

/** Returns why the queue could not start the run, or why its last trainer failed, whichever is newer. */
function failureOf({ failure, start_problem, last_time }: RunRow): ApiError | null {
  if (start_problem) {
    const { time, code, message, hint } = JSON.parse(start_problem);
    if (time > (last_time ?? 0)) return { code, message, hint };
  }
  return failure ? JSON.parse(failure) : null;
}

/** Returns a run's status. A run with neither a running trainer nor an end event in its journal was interrupted. */
function statusOf(row: RunRow, alive: boolean): RunStatus {
  const open = isLive(row.status);
  return open && !alive ? 'interrupted' : row.status;
}

function estimate(pace: number | null, row: RunRow): number | null {
  return pace === null ? null : Math.max(0, ((row.iterations - row.iteration) * pace) / 1000);
}
