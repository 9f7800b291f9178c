import { type DeviceKey, isSameDevice } from '../contract/run-facts.ts';
import type { HistoryDatabase } from '../history/database.ts';
import type { RunRow } from '../history/runs-table.ts';
import { prepared } from '../history/statements.ts';

/** When a trainer ran, in ms, and on which device. */
interface Span {
  run: string;
  device: DeviceKey;
  from: number;
  to: number;
}

/** Returns when the trainers of runs ran. A trainer that was killed ran until its last event. */
export function trainerSpans(database: HistoryDatabase, runs: readonly RunRow[]): Span[] {
  const starts = prepared<[string], { seq: number; time: number; device: string | null; uuid: string | null }>(
    database,
    `SELECT seq, time, body ->> 'device' AS device, body ->> 'device_uuid' AS uuid FROM events WHERE run = ? AND type = 'started' ORDER BY seq`,
  );
  const lastBefore = prepared<[string, number], { time: number }>(
    database,
    'SELECT time FROM events WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
  );
  return runs.flatMap((row) => {
    const all = starts.all(row.id);
    return all.map(({ time, device, uuid }, index): Span => {
      const next = all[index + 1];
      const end = next === undefined ? row.last_time : lastBefore.get(row.id, next.seq)?.time;
      return { run: row.id, device: { id: device ?? row.device, uuid }, from: time, to: end ?? time };
    });
  });
}

/** The end of an iteration in ms, and its duration in seconds; null if it was not measured. */
interface Iteration {
  time: number;
  seconds: number | null;
}

/** Returns the newest iterations of a run. */
export const newestIterations = (database: HistoryDatabase, runId: string, count: number): Iteration[] =>
  prepared<[string, number], Iteration>(
    database,
    `SELECT time, body -> '$.metrics' ->> 'time/iteration' AS seconds FROM events
     WHERE run = ? AND type = 'iteration' ORDER BY seq DESC LIMIT ?`,
  ).all(runId, count);

/** Returns the durations (s) of a run's iterations, without those during which another run used the device. */
export function undisturbedSeconds(iterations: readonly Iteration[], id: string, spans: readonly Span[]): number[] {
  const own = spans.filter((span) => span.run === id);
  const others = spans.filter((span) => span.run !== id && own.some(({ device }) => isSameDevice(span.device, device)));
  return iterations.flatMap(({ time, seconds }) => {
    if (seconds === null) return [];
    const from = time - seconds * 1000;
    return others.some((other) => other.from < time && other.to > from) ? [] : [seconds];
  });
}
