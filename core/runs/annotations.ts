import { randomUUID } from 'node:crypto';
import type { Alert, Input, RunMarks } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { readAlerts, readMarks } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { getRun } from '../history/runs-table.ts';
import { appendAnnotation, type NewAnnotation } from '../run-directory/annotations.ts';
import { runFolder } from '../run-directory/names.ts';
import { runUnknown } from './runs.ts';
import type { Supervisor } from './supervisor.ts';

/** What people and core say of runs: written to the run's annotations.jsonl first, then taken into the history from there. */
export class Annotations {
  private readonly parts: { database: HistoryDatabase; home: string; supervisor: Supervisor };

  constructor(parts: { database: HistoryDatabase; home: string; supervisor: Supervisor }) {
    this.parts = parts;
  }

  add(runId: string, ...annotations: NewAnnotation[]): void {
    for (const annotation of annotations) appendAnnotation(runFolder(this.parts.home, runId), annotation);
    this.parts.supervisor.lookAtAnnotations(runId);
  }

  /** Changes what is named; what is so already makes no line. Throws `run_unknown`. */
  annotate({ runId, addTags = [], removeTags = [], ...changes }: Input<'runs.annotate'>): RunMarks {
    const { tags, note, starred, archived } = this.marks(runId);
    const { note: text = note, starred: star = starred, archived: archive = archived } = changes;
    const lines: NewAnnotation[] = [];
    for (const tag of new Set(addTags))
      if (!tags.includes(tag)) lines.push({ type: 'tag', tag, present: true });
    for (const tag of new Set(removeTags))
      if (tags.includes(tag)) lines.push({ type: 'tag', tag, present: false });
    if (text !== note) lines.push({ type: 'note', text });
    if (star !== starred) lines.push({ type: 'star', on: star });
    if (archive !== archived) lines.push({ type: 'archive', on: archive });
    if (lines.length > 0) this.add(runId, ...lines);
    return this.marks(runId);
  }

  /** Throws `run_unknown`. */
  marks(runId: string): RunMarks {
    return readMarks(this.parts.database, this.row(runId));
  }

  /** Oldest first. Throws `run_unknown`. */
  alerts(runId: string): Alert[] {
    this.row(runId);
    return readAlerts(this.parts.database, runId);
  }

  /** For detectors; gives the alert's id. Throws `run_unknown`. */
  raise(runId: string, alert: Pick<Alert, 'kind' | 'severity' | 'iteration' | 'message'>): string {
    this.row(runId);
    const id = randomUUID();
    this.add(runId, { type: 'alert', alert: id, state: 'raised', ...alert });
    return id;
  }

  /** Throws `run_unknown`, `alert_unknown`, or `input_invalid` where a snooze has no end. */
  answer({ runId, alertId, state, until }: Input<'alerts.answer'>): Alert[] {
    if (!this.alerts(runId).some((alert) => alert.id === alertId))
      throw new Failure(
        'alert_unknown',
        `The run ${runId} has no alert ${alertId}.`,
        'Choose one from its list.',
      );
    if (state !== 'snoozed') this.add(runId, { type: 'alert', alert: alertId, state });
    else if (until === undefined)
      throw new Failure('input_invalid', 'A snooze needs an end.', 'Give `until`, in ms since the epoch.');
    else this.add(runId, { type: 'alert', alert: alertId, state, until });
    return this.alerts(runId);
  }

  private row(runId: string) {
    const row = getRun(this.parts.database, runId);
    if (row) return row;
    throw runUnknown(runId);
  }
}
