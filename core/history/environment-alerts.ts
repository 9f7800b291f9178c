import { createHash } from 'node:crypto';
import { sentence } from '../contract/sentence.ts';
import type { HistoryDatabase } from './database.ts';
import { eventsByType, prepared } from './statements.ts';

/** Number of iterations after a failure of an environment during which further failures raise no alert. */
const quietAfter = 20;

/** An alert when raised. Its id is a hash of environment and iteration, so a rebuild gives the same id. */
export interface EnvironmentAlert {
  id: string;
  kind: 'environment_alert';
  severity: 'warning';
  iteration: number;
  message: string;
}

interface AlertRow {
  iteration: number;
  environment: string;
  message: string;
}

/**
 * Returns the alerts for the journal's events `environment_alert` after `seq` up to `upTo`: the first one of each period of failures. Events of
 * iterations that a trainer has repeated do not count.
 */
export function environmentAlerts(
  database: HistoryDatabase,
  runId: string,
  seq: number,
  upTo: number,
): EnvironmentAlert[] {
  // This query is faster than the one below and almost always finds nothing.
  const event = `SELECT 1 FROM ${eventsByType} WHERE run = ? AND type = 'environment_alert' AND seq > ? LIMIT 1`;
  if (prepared(database, event).get(runId, seq) === undefined) return [];
  /** Whether a trainer resumed before `event`, after it was written and before `until`. */
  const isRepeated = (event: string, until: string) =>
    `EXISTS (SELECT 1 FROM events AS restart INDEXED BY events_by_type
       WHERE restart.run = ${event}.run AND restart.type = 'started' AND restart.seq > ${event}.seq AND restart.seq <= ${until}
         AND coalesce(json_extract(restart.body, '$.resume.iteration'), -1) < json_extract(${event}.body, '$.iteration'))`;
  const rows = prepared<{ runId: string; seq: number; upTo: number; quietAfter: number }[], AlertRow>(
    database,
    `SELECT json_extract(body, '$.iteration') AS iteration, json_extract(body, '$.environment') AS environment,
       json_extract(body, '$.message') AS message
     FROM ${eventsByType} WHERE run = @runId AND type = 'environment_alert' AND seq > @seq AND seq <= @upTo
       AND NOT ${isRepeated('events', '@upTo')} AND NOT EXISTS (
         SELECT 1 FROM events AS earlier INDEXED BY events_by_type
         WHERE earlier.run = events.run AND earlier.type = 'environment_alert' AND earlier.seq < events.seq
           AND json_extract(earlier.body, '$.environment') = json_extract(events.body, '$.environment')
           AND json_extract(earlier.body, '$.iteration') >= json_extract(events.body, '$.iteration') - @quietAfter
           AND NOT ${isRepeated('earlier', 'events.seq')})
     ORDER BY seq`,
  ).all({ runId, seq, upTo, quietAfter });
  return rows.map(({ iteration, environment, message }) => ({
    id: createHash('sha256')
      .update(JSON.stringify(['environment_alert', environment, iteration]))
      .digest('hex')
      .slice(0, 32),
    kind: 'environment_alert',
    severity: 'warning',
    iteration,
    message: sentence(message),
  }));
}
