import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Alert, AlertAction, AlertEvidence, KnownAction, RunMarks } from '../contract/contract.ts';
import { messageOf } from '../contract/failure.ts';
import { type Annotation, type AnnotationsRead, readAnnotations } from '../run-directory/annotations.ts';
import { runFiles } from '../run-directory/names.ts';
import type { HistoryDatabase } from './database.ts';
import type { RunRow } from './runs-table.ts';
import { eventsByType, prepared, preparedValue } from './statements.ts';

/**
 * Reads a run's annotations into the history if their file has changed. All are replaced, so that no annotation of a damaged or replaced file remains.
 * Returns whether anything changed.
 */
export function ingestAnnotations(database: HistoryDatabase, runId: string, folder: string): boolean {
  const storedSize = preparedValue<[string], number>(database, 'SELECT annotations_bytes FROM runs WHERE id = ?').get(
    runId,
  );
  const size = statSync(join(folder, runFiles.annotations), { throwIfNoEntry: false })?.size ?? 0;
  if (storedSize === undefined || storedSize === size) return false;
  database
    .transaction(() => {
      const { annotations, damaged, bytes, unreadable } = read(folder, size);
      for (const table of ['tags', 'alerts', 'actions'])
        prepared(database, `DELETE FROM ${table} WHERE run = ?`).run(runId);
      const problem = unreadable ?? (damaged === 0 ? null : problemOf(damaged));
      prepared(
        database,
        `UPDATE runs SET annotations_bytes = ?, annotations_problem = ?, note = '', starred = 0, archived = 0, given_name = '', start_problem = NULL
         WHERE id = ?`,
      ).run(bytes, problem, runId);
      for (const annotation of annotations) apply(database, runId, annotation);
    })
    .immediate();
  return true;
}

/** Returns a problem instead of throwing, because one unreadable file must not hide other runs. */
function read(folder: string, size: number): AnnotationsRead & { unreadable: string | null } {
  try {
    return { ...readAnnotations(folder), unreadable: null };
  } catch (error) {
    const reason = messageOf(error);
    const unreadable = `annotations.jsonl can't be read: ${reason}. Fix the file and run \`starpo history rebuild\`.`;
    return { annotations: [], damaged: 0, bytes: size, unreadable };
  }
}

const problemOf = (damaged: number) =>
  `annotations.jsonl has ${damaged} invalid ${damaged === 1 ? 'line, which was' : 'lines, which were'} skipped.`;

function apply(database: HistoryDatabase, runId: string, annotation: Annotation): void {
  const update = (column: string, value: unknown) =>
    prepared(database, `UPDATE runs SET ${column} = ? WHERE id = ?`).run(value, runId);
  switch (annotation.type) {
    case 'tag': {
      const statement = annotation.present
        ? 'INSERT OR IGNORE INTO tags (run, tag) VALUES (?, ?)'
        : 'DELETE FROM tags WHERE run = ? AND tag = ?';
      prepared(database, statement).run(runId, annotation.tag);
      break;
    }
    case 'note':
      update('note', annotation.text);
      break;
    case 'star':
      update('starred', Number(annotation.on));
      break;
    case 'archive':
      update('archived', Number(annotation.on));
      break;
    case 'name':
      update('given_name', annotation.name);
      break;
    case 'cleaned':
      applyCleaning(database, runId, annotation);
      break;
    case 'alert':
      applyAlert(database, runId, annotation);
      break;
    case 'action':
      applyAction(database, runId, annotation);
      break;
    case 'start_failed': {
      const { time, code, message, hint } = annotation;
      update('start_problem', JSON.stringify({ time, code, message, hint }));
      break;
    }
  }
}

/** Marks the cleaned rollouts as removed, except those that a resumed run wrote later. */
function applyCleaning(
  database: HistoryDatabase,
  runId: string,
  { splits, seq }: Extract<Annotation, { type: 'cleaned' }>,
): void {
  prepared(
    database,
    `UPDATE rollouts SET removed = 1 WHERE run = ? AND split IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
       SELECT 1 FROM ${eventsByType} WHERE events.run = rollouts.run AND type = 'rollout' AND seq > ?
         AND json_extract(body, '$.iteration') = rollouts.iteration AND json_extract(body, '$.split') = rollouts.split)`,
  ).run(runId, JSON.stringify(splits), seq);
}

type AlertAnnotation = Extract<Annotation, { type: 'alert' }>;

function applyAlert(database: HistoryDatabase, runId: string, annotation: AlertAnnotation): void {
  const { alert, state, time } = annotation;
  if (state === 'raised') {
    const { kind, severity, iteration, message } = annotation;
    prepared(
      database,
      `INSERT OR REPLACE INTO alerts (run, id, kind, severity, iteration, message, state, raised_at, changed_at, snoozed_until, evidence)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)`,
    ).run(runId, alert, kind, severity, iteration, message, state, time, time, evidenceOf(annotation));
    return;
  }
  const until = state === 'snoozed' ? annotation.until : null;
  prepared(database, 'UPDATE alerts SET state = ?, changed_at = ?, snoozed_until = ? WHERE run = ? AND id = ?').run(
    state,
    time,
    until,
    runId,
    alert,
  );
}

const noEvidence: AlertEvidence = {
  level: null,
  series: null,
  value: null,
  baseline: null,
  since: null,
  regime: null,
  advice: [],
};

/** Returns the alert's evidence as JSON, or null if its line has none. */
function evidenceOf(annotation: object): string | null {
  const evidence = Object.entries(annotation).filter(
    ([key, part]) => Object.hasOwn(noEvidence, key) && part !== undefined && part !== null,
  );
  return evidence.length === 0 ? null : JSON.stringify(Object.fromEntries(evidence));
}

type ActionAnnotation = Extract<Annotation, { type: 'action' }>;

/** Applies the last line about an action. Its start is the time of the last `begun` line. */
function applyAction(database: HistoryDatabase, runId: string, annotation: ActionAnnotation): void {
  const { type: _, action: id, time, ...body } = annotation;
  const storedStart = preparedValue<[string, string], number>(
    database,
    'SELECT begun_at FROM actions WHERE run = ? AND id = ?',
  ).get(runId, id);
  const begun = body.state === 'begun' ? time : (storedStart ?? time);
  prepared(
    database,
    'INSERT OR REPLACE INTO actions (run, id, alert, begun_at, changed_at, body) VALUES (?, ?, ?, ?, ?, ?)',
  ).run(runId, id, body.alert, begun, time, JSON.stringify(body));
}

interface ActionRow {
  id: string;
  begun_at: number;
  changed_at: number;
  body: string;
}

/** Returns a run's actions, oldest first. */
export function readActions(database: HistoryDatabase, runId: string): AlertAction[] {
  return prepared<[string], ActionRow>(
    database,
    'SELECT id, begun_at, changed_at, body FROM actions WHERE run = ? ORDER BY begun_at, id',
  )
    .all(runId)
    .map(toAction);
}

/** Returns a run's last action, or null if there is none. */
export function lastAction(database: HistoryDatabase, runId: string): AlertAction | null {
  const row = prepared<[string], ActionRow>(
    database,
    'SELECT id, begun_at, changed_at, body FROM actions WHERE run = ? ORDER BY begun_at DESC, id DESC LIMIT 1',
  ).get(runId);
  return row ? toAction(row) : null;
}

/** Returns the unfinished actions of all runs, oldest first. Their kinds are known, because others are not ingested. */
export function unfinishedActions(database: HistoryDatabase): { run: string; action: KnownAction }[] {
  return prepared<[], ActionRow & { run: string }>(
    database,
    `SELECT run, id, begun_at, changed_at, body FROM actions WHERE json_extract(body, '$.state') = 'begun' ORDER BY begun_at, id`,
  )
    .all()
    .map(({ run, ...row }) => ({ run, action: toAction(row) as KnownAction }));
}

const toAction = ({ id, begun_at: time, changed_at: changedAt, body }: ActionRow) =>
  ({ id, time, changedAt, ...JSON.parse(body) }) as AlertAction;

export function readMarks(database: HistoryDatabase, row: RunRow): RunMarks {
  const tags = preparedValue<[string], string>(database, 'SELECT tag FROM tags WHERE run = ? ORDER BY tag').all(row.id);
  const { note, given_name: name } = row;
  return { tags, note, starred: row.starred === 1, archived: row.archived === 1, name };
}

/**
 * Returns a run's alerts, oldest first, and by iteration if they were raised together. Excludes alerts for iterations that a trainer repeated after
 * they were raised, because their metrics were replaced.
 */
export function readAlerts(database: HistoryDatabase, runId: string): Alert[] {
  const actions = new Map(readActions(database, runId).map((each) => [each.alert, each]));
  const rows = prepared<[string], Omit<Alert, keyof AlertEvidence | 'action'> & { evidence: string | null }>(
    database,
    `SELECT id, kind, severity, iteration, message, state, raised_at AS raisedAt, changed_at AS changedAt, snoozed_until AS snoozedUntil, evidence
     FROM alerts WHERE run = ? AND NOT EXISTS (
       SELECT 1 FROM ${eventsByType} WHERE events.run = alerts.run AND type = 'started' AND time > raised_at
         AND coalesce(json_extract(body, '$.resume.iteration'), -1) < alerts.iteration)
     ORDER BY raised_at, iteration, id`,
  ).all(runId);
  return rows.map(({ evidence, ...alert }) => ({
    ...alert,
    ...noEvidence,
    ...JSON.parse(evidence ?? '{}'),
    action: actions.get(alert.id) ?? null,
  }));
}
