import { createHash } from 'node:crypto';
import type { Alert, AlertEvidence, Input, RunMarks } from '../contract/contract.ts';
import { Failure, runUnknown } from '../contract/failure.ts';
import { readAlerts, readMarks } from '../history/annotations.ts';
import type { History } from '../history/history.ts';
import { getRun } from '../history/runs-table.ts';
import { appendAnnotation, type NewAnnotation } from '../run-directory/annotations.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';

interface AnnotationsParts {
  history: History;
  home: string;
  supervisor: Supervisor;
}

/** What people and core say of runs: written to the run's annotations.jsonl first, then taken into the history from there. */
export class Annotations {
  private readonly parts: AnnotationsParts;
  /** What is being written for a run, by its id. */
  private readonly under = new Map<string, Promise<unknown>>();

  constructor(parts: AnnotationsParts) {
    this.parts = parts;
  }

  /** Settles once the history has them. Throws `history_version_unsupported`. */
  async add(runId: string, ...annotations: NewAnnotation[]): Promise<void> {
    const { history, home, supervisor } = this.parts;
    if (history.readOnly) throw history.readOnly;
    for (const annotation of annotations) appendAnnotation(runFolder(home, runId), annotation);
    await supervisor.lookAtAnnotations(runId);
  }

  /**
   * Changes what is named; what is so already makes no line. Two that come at once are taken one after the other, so that the second sees what the first did. Throws `run_unknown`,
   * `note_changed` where another note has come since the one that was written over, or `run_active` where a run that has a trainer is to be archived.
   */
  async annotate(wanted: Input<'runs.annotate'>): Promise<RunMarks> {
    const { runId } = wanted;
    this.row(runId);
    const before = this.under.get(runId) ?? Promise.resolve();
    const turn = before.catch(() => {}).then(() => this.change(wanted));
    this.under.set(runId, turn);
    try {
      return await turn;
    } finally {
      if (this.under.get(runId) === turn) this.under.delete(runId);
    }
  }

  private async change({
    runId,
    addTags = [],
    removeTags = [],
    ...changes
  }: Input<'runs.annotate'>): Promise<RunMarks> {
    const { tags, note, starred, archived, name } = this.marks(runId);
    const { note: text = note, starred: star = starred, archived: archive = archived } = changes;
    const called = (changes.name ?? name).trim();
    if (text !== note && (changes.noteWas ?? note) !== note) throw noteChanged();
    if (archive && !archived) this.refuseActive(runId);
    const lines: NewAnnotation[] = [];
    for (const tag of new Set(addTags))
      if (!tags.includes(tag)) lines.push({ type: 'tag', tag, present: true });
    for (const tag of new Set(removeTags))
      if (tags.includes(tag)) lines.push({ type: 'tag', tag, present: false });
    if (text !== note) lines.push({ type: 'note', text });
    if (star !== starred) lines.push({ type: 'star', on: star });
    if (archive !== archived) lines.push({ type: 'archive', on: archive });
    if (called !== name) lines.push({ type: 'name', name: called });
    if (lines.length > 0) await this.add(runId, ...lines);
    return this.marks(runId);
  }

  /** Throws `run_unknown`. */
  marks(runId: string): RunMarks {
    return readMarks(this.parts.history.database, this.row(runId));
  }

  /** Oldest first. Throws `run_unknown`. */
  alerts(runId: string): Alert[] {
    this.row(runId);
    return readAlerts(this.parts.history.database, runId);
  }

  /**
   * For detectors, with what it rests on; gives the alert's id, which follows from run, detector and onset: what is found again, as after a restart, is the alert that is there.
   * Throws `run_unknown`.
   */
  async raise(
    runId: string,
    alert: Pick<Alert, 'kind' | 'severity' | 'iteration' | 'message'> & Partial<AlertEvidence>,
  ): Promise<string> {
    const id = alertId(runId, alert.kind, alert.iteration);
    if (!this.alerts(runId).some((known) => known.id === id))
      await this.add(runId, { type: 'alert', alert: id, state: 'raised', ...alert });
    return id;
  }

  /** Throws `run_unknown`, `alert_unknown`, or `input_invalid` where a snooze has no end. */
  async answer({ runId, alertId, state, until }: Input<'alerts.answer'>): Promise<Alert[]> {
    if (!this.alerts(runId).some((alert) => alert.id === alertId))
      throw new Failure(
        'alert_unknown',
        `Alert ${alertId} was not found in run ${runId}.`,
        'Choose an alert from the run page or `starpo alerts`.',
      );
    if (state !== 'snoozed') await this.add(runId, { type: 'alert', alert: alertId, state });
    else if (until === undefined)
      throw new Failure(
        'input_invalid',
        'A snoozed alert needs an end time.',
        'Set `until` in ms since the epoch.',
      );
    else await this.add(runId, { type: 'alert', alert: alertId, state, until });
    return this.alerts(runId);
  }

  /** Hidden, a run whose trainer lives would use the machine unseen. */
  private refuseActive(runId: string): void {
    if (this.parts.supervisor.isActive(this.row(runId)))
      throw new Failure(
        'run_active',
        'A running or paused run can’t be archived.',
        'Stop it first. You can resume it later.',
      );
  }

  private row(runId: string) {
    const row = getRun(this.parts.history.database, runId);
    if (row) return row;
    throw runUnknown(runId);
  }
}

const noteChanged = () =>
  new Failure(
    'note_changed',
    'The note was changed in another window.',
    'Review the new text, then save again.',
  );

const alertId = (runId: string, kind: string, onset: number) =>
  createHash('sha256')
    .update(JSON.stringify([runId, kind, onset]))
    .digest('hex')
    .slice(0, 32);
