import { csvRow } from './escape.ts';
import type { Point } from './record.ts';

/** A row an iteration, a column a metric, by name; a cell is empty where an iteration lacks the metric. Times are ISO 8601, UTC. */
export function* metricsCsv(points: readonly Point[]): Generator<string> {
  const names = [...new Set(points.flatMap(({ values }) => Object.keys(values)))].sort();
  yield csvRow(['iteration', 'time', ...names]);
  for (const { iteration, time, values } of points)
    yield csvRow([iteration, new Date(time).toISOString(), ...names.map((name) => values[name])]);
}

/** `{"iteration": 1, "time": "...", "metrics": {...}}`, a line an iteration. */
export function* metricsJsonLines(points: readonly Point[]): Generator<string> {
  for (const { iteration, time, values } of points)
    yield `${JSON.stringify({ iteration, time: new Date(time).toISOString(), metrics: values })}\n`;
}
