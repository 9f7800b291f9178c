import { csvRow } from './escape.ts';
import type { Point } from './record.ts';

/** Yields CSV with one row per iteration and one column per metric, sorted by name. Cells of missing metrics are empty. Times are ISO 8601 in UTC. */
export function* metricsCsv(points: readonly Point[]): Generator<string> {
  const names = [...new Set(points.flatMap(({ values }) => Object.keys(values)))].sort();
  yield csvRow(['iteration', 'time', ...names]);
  for (const { iteration, time, values } of points)
    yield csvRow([iteration, new Date(time).toISOString(), ...names.map((name) => values[name])]);
}

/** Yields one line per iteration: `{"iteration": 1, "time": "...", "metrics": {...}}`. */
export function* metricsJsonLines(points: readonly Point[]): Generator<string> {
  for (const { iteration, time, values } of points)
    yield `${JSON.stringify({ iteration, time: new Date(time).toISOString(), metrics: values })}\n`;
}
