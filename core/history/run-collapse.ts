import type { RunCollapse } from '../contract/contract.ts';
import { lostSuccess, type Success, windowMeans } from '../echo-trap/lost-success.ts';
import { readAlerts } from './annotations.ts';
import type { HistoryDatabase } from './database.ts';
import { prepared } from './statements.ts';

/** With fewer evaluations, the success of rollouts is used, averaged over this many iterations. */
const fewestEvaluations = 2;
const rolloutWindow = 10;

/** Returns the success that a run has lost, or null if it isn't shown as collapsed. */
export function readRunCollapse(database: HistoryDatabase, runId: string): RunCollapse | null {
  const evaluated = evaluations(database, runId);
  const found = lostSuccess(evaluated.length >= fewestEvaluations ? evaluated : rollouts(database, runId));
  return found && { ...found, warnedAt: firstWarning(database, runId) };
}

/** Returns the success of each evaluation, averaged over environments. */
const evaluations = (database: HistoryDatabase, runId: string): Success[] =>
  prepared<[{ run: string }], Success>(
    database,
    `SELECT rate.iteration, avg(rate.value) AS success, avg(low.value) AS low, avg(high.value) AS high
     FROM (SELECT DISTINCT 'evaluation/' || label || '/success_rate' AS name FROM evaluations WHERE run = @run) AS success
     JOIN metrics AS rate ON rate.run = @run AND rate.name = success.name
     LEFT JOIN metrics AS low
       ON low.run = @run AND low.name = success.name || '_low' AND low.iteration = rate.iteration
     LEFT JOIN metrics AS high
       ON high.run = @run AND high.name = success.name || '_high' AND high.iteration = rate.iteration
     GROUP BY rate.iteration ORDER BY rate.iteration`,
  ).all({ run: runId });

const rollouts = (database: HistoryDatabase, runId: string): Success[] =>
  windowMeans(
    prepared<[string], { iteration: number; success: number }>(
      database,
      `SELECT iteration, value AS success FROM metrics WHERE run = ? AND name = 'rollout/success_rate' ORDER BY iteration`,
    ).all(runId),
    rolloutWindow,
  );

/** Returns the iteration of the Echo Trap monitor's first warning, or null. */
function firstWarning(database: HistoryDatabase, runId: string): number | null {
  const warnings = readAlerts(database, runId).filter(({ level }) => level !== null && level !== 'watch');
  return warnings.length === 0 ? null : Math.min(...warnings.map(({ iteration }) => iteration));
}
