import type { RunLabel } from '../contract/contract.ts';
import { labelRun, type Point, ruleSeries } from '../echo-trap/collapse-rule.ts';
import type { HistoryDatabase } from './database.ts';
import { prepared, preparedValue } from './statements.ts';

/** Labels a run by the collapse rule and its stored series. Returns null if it is too short or has no success rate. */
export function readRunLabel(
  database: HistoryDatabase,
  runId: string,
  groups: number,
  groupSize?: number,
): RunLabel | null {
  return labelRun(readPoints(database, runId), groups, groupSize);
}

function readPoints(database: HistoryDatabase, runId: string): Point[] {
  const labels = preparedValue<[string], string>(database, 'SELECT DISTINCT label FROM evaluations WHERE run = ?').all(
    runId,
  );
  // One query per name reads only the needed rows.
  const series = prepared<[string, string], { iteration: number; value: number }>(
    database,
    'SELECT iteration, value FROM metrics WHERE run = ? AND name = ?',
  );
  const points = new Map<number, Record<string, number>>();
  for (const name of [...ruleSeries, ...labels.map((label) => `evaluation/${label}/success_rate`)]) {
    for (const { iteration, value } of series.all(runId, name)) {
      const metrics = points.get(iteration) ?? {};
      metrics[name] = value;
      points.set(iteration, metrics);
    }
  }
  return [...points].sort(([a], [b]) => a - b).map(([iteration, metrics]) => ({ iteration, metrics }));
}
