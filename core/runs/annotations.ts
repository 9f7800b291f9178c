import { KeyedMutex } from '../base/keyed-mutex.ts';
import type { Alert, Input, RunMarks } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { readAlerts, readMarks } from '../history/annotations.ts';
import type { History } from '../history/history.ts';
import { type RunRow, requireRun } from '../history/runs-table.ts';
import { appendAnnotation, type NewAnnotation } from '../run-directory/annotations.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';

interface AnnotationsParts {
  history: History;
  home: string;
  supervisor: Supervisor;
}

/** Annotations of runs by users and by the app. They are appended to the run's annotations.jsonl, then ingested. */
export class Annotations {
  private readonly parts: AnnotationsParts;
  /** One change at a time per run, so that each sees the one before. */
  private readonly mutex = new KeyedMutex();

  constructor(parts: AnnotationsParts) {
    this.parts = parts;
  }

  /** Resolves when the annotations are ingested. Throws `data_folder_read_only` or `history_version_unsupported`. */
  async add(runId: string, ...annotations: NewAnnotation[]): Promise<void> {
    const { history, home, supervisor } = this.parts;
    if (history.readOnly) throw history.readOnly;
    for (const annotation of annotations) appendAnnotation(runFolder(home, runId), annotation);
    await supervisor.ingestAnnotations(runId);
  }

  /**
   * Changes the given marks; unchanged ones add no line. Throws `run_unknown`, `note_changed` if the note is not the one that the user edited, or
   * `run_active` if the change archives a run with a running trainer.
   */
  async annotate(changes: Input<'runs.annotate'>): Promise<RunMarks> {
    this.row(changes.runId);
    return this.mutex.run(changes.runId, () => this.change(changes));
  }

  private async change({
    runId,
    addTags = [],
    removeTags = [],
    ...changes
  }: Input<'runs.annotate'>): Promise<RunMarks> {
    const { tags, note, starred, archived, name } = this.marks(runId);
    const { note: text = note, starred: star = starred, archived: archive = archived } = changes;
    const newName = (changes.name ?? name).trim();
    if (text !== note && (changes.noteWas ?? note) !== note) throw noteChanged();
    if (archive && !archived) this.refuseActive(runId);
    const lines: NewAnnotation[] = [];
    for (const tag of new Set(addTags)) if (!tags.includes(tag)) lines.push({ type: 'tag', tag, present: true });
    for (const tag of new Set(removeTags)) if (tags.includes(tag)) lines.push({ type: 'tag', tag, present: false });
    if (text !== note) lines.push({ type: 'note', text });
    if (star !== starred) lines.push({ type: 'star', on: star });
    if (archive !== archived) lines.push({ type: 'archive', on: archive });
    if (newName !== name) lines.push({ type: 'name', name: newName });
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

  /** Throws `run_unknown`, `alert_unknown`, or `input_invalid` for a snooze without an end. */
  async answer({ runId, alertId, state, until }: Input<'alerts.answer'>): Promise<Alert[]> {
    this.requireAlert(runId, alertId);
    if (state !== 'snoozed') await this.add(runId, { type: 'alert', alert: alertId, state });
    else if (until === undefined)
      throw new Failure('input_invalid', 'A snoozed alert needs an end time.', 'Set `until` in ms since the epoch.');
    else await this.add(runId, { type: 'alert', alert: alertId, state, until });
    return this.alerts(runId);
  }

  /** Throws `run_unknown` or `alert_unknown`. */
  requireAlert(runId: string, alertId: string): void {
    if (this.alerts(runId).some(({ id }) => id === alertId)) return;
    throw new Failure(
      'alert_unknown',
      `Alert ${alertId} was not found in run ${runId}.`,
      `Reload the page of the run, or list the ids of its alerts with \`starpo alerts ${runId} --json\`.`,
    );
  }

  /** An archived run is hidden, so its running trainer would use the machine unnoticed. */
  private refuseActive(runId: string): void {
    if (this.parts.supervisor.isActive(this.row(runId)))
      throw new Failure(
        'run_active',
        "A running or paused run can't be archived.",
        'Stop it first. You can resume it later.',
      );
  }

  private row(runId: string): RunRow {
    return requireRun(this.parts.history.database, runId);
  }
}

const noteChanged = () =>
  new Failure('note_changed', 'The note has changed since you opened it.', 'Review the new text, then save again.');
