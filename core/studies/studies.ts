import { randomBytes } from 'node:crypto';
import type { Notices } from '../base/notices.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { JobPoller } from '../cluster/job-poller.ts';
import type { Input, Output, RunSummary, Study, StudySummary, TrashedStudy } from '../contract/contract.ts';
import { Failure, ignoring } from '../contract/failure.ts';
import { hasActiveJob, isFinished, isLive } from '../contract/run-facts.ts';
import { maxNameLength } from '../contract/run-names.ts';
import type { HistoryDatabase } from '../history/database.ts';
import type { HistoryReader } from '../history/reader.ts';
import { getRun } from '../history/runs-table.ts';
import type { Queue } from '../queue/queue.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { slug } from '../run-directory/names.ts';
import { retention, type Trash } from '../run-library/trash.ts';
import { type StudyFiles, studyRunId } from '../run-sync/study-files.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Annotations } from '../runs/annotations.ts';
import type { CreateRunParts } from '../runs/create-run.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { RunLabels } from './labels.ts';
import { newStudyFile } from './new-study.ts';
import { isActive, type StateOf, summarize, tabulate } from './table.ts';

/** Returns whether a run has an active job on a cluster but is not training. */
const hasWaitingJob = (run: RunSummary) => hasActiveJob(run) && !isLive(run.status);

interface StudiesParts extends CreateRunParts {
  annotations: Annotations;
  cluster: Pick<Cluster, 'cancel' | 'jobs'>;
  jobPoller: Pick<JobPoller, 'changed'>;
  database: HistoryDatabase;
  reader: HistoryReader;
  studyFiles: StudyFiles;
  runs: Runs;
  queue: Queue;
  supervisor: Supervisor;
  trainer: Trainer;
  trash: Trash;
  notices: Notices;
}

/**
 * Sweeps (`study` in code): settings (`points` in code), each a set of changes to one configuration, times seeds. A file defines a sweep; its progress follows from its runs,
 * whose names consist of the sweep's id, the setting's number and the seed.
 */
export class Studies {
  private readonly parts: StudiesParts;
  /** Status and iteration of each run at the last notice. */
  private readonly published = new Map<string, string>();
  /** Starts in progress, by sweep. */
  private readonly starting = new Map<string, { canceled: boolean; ended: Promise<unknown> }>();
  private readonly labels: RunLabels;
  private readonly stops: (() => void)[];
  private closed = false;

  constructor(parts: StudiesParts) {
    this.parts = parts;
    this.labels = new RunLabels(parts.reader);
    const { events } = parts.supervisor;
    this.stops = [
      events.on('summary', (run) => this.publishProgress(run)),
      events.on('removed', ({ runId }) => {
        this.labels.forget(runId);
        this.publish(parts.studyFiles.of(runId)?.id);
      }),
    ];
  }

  /** Returns all valid sweeps, oldest first. */
  list(): StudySummary[] {
    return this.parts.studyFiles
      .scan()
      .map((id) => this.summary(id))
      .sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  }

  /** Throws `study_unknown` or `study_unreadable`, as the methods below do. */
  async get(id: string): Promise<Study> {
    const { database, studyFiles } = this.parts;
    const file = studyFiles.get(id);
    for (const [index, point] of file.points.entries())
      for (const seed of file.seeds) {
        const runId = studyRunId(id, index, seed);
        const run = this.stateOf(runId);
        if (run?.finished) await this.labels.read(runId, run.iteration, file.config, point);
      }
    const table = tabulate(database, id, file, this.stateOf, this.labels);
    return { summary: this.summary(id), table };
  }

  /** Creates a sweep and returns its id. Throws as {@link newStudyFile} and {@link start} do. */
  async create(study: Input<'studies.create'>): Promise<string> {
    const file = await newStudyFile(this.parts, study);
    const id = this.freeId(study.name);
    this.parts.studyFiles.write(id, file);
    this.publish(id);
    if (study.start) await this.start(id);
    return id;
  }

  /** Creates and queues the runs. Throws `study_completed`, or as `Runs.create` and `Queue.add` do. Runs queued before an error stay queued; another start continues. */
  async start(id: string): Promise<void> {
    const { state } = this.summary(id);
    if (state === 'completed')
      throw new Failure('study_completed', `All runs of the sweep ${id} have completed.`, 'Create another sweep.');
    const earlier = this.starting.get(id);
    if (earlier) return void (await earlier.ended);
    const job = { canceled: false, ended: Promise.resolve() as Promise<unknown> };
    const work = this.queueRuns(id, () => job.canceled || this.closed);
    job.ended = work.catch(() => {});
    this.starting.set(id, job);
    try {
      await work;
    } finally {
      this.starting.delete(id);
      this.publish(id);
    }
  }

  /** Returns the runs that can be started: not finished, queued or running. `create`: creates the missing ones first. Throws `study_completed` if there are none. */
  async startable(id: string, { create = false } = {}): Promise<string[]> {
    const startable: string[] = [];
    for await (const runId of this.startableRuns(id, create)) startable.push(runId);
    if (startable.length > 0) return startable;
    throw new Failure(
      'study_completed',
      `No run of the sweep ${id} can be started: all have completed, stopped early, or are queued or running.`,
      'Cancel the sweep first, or create another one.',
    );
  }

  /** Removes its runs from the queue, stops those that are training, and cancels jobs that wait on a cluster. Throws as `Cluster.cancel` does. */
  async cancel(id: string): Promise<void> {
    const { cluster, jobPoller, queue, runs } = this.parts;
    const runIds = this.runIds(id);
    const job = this.starting.get(id);
    if (job) job.canceled = true;
    await job?.ended;
    const queued = queue.list().filter((runId) => runIds.includes(runId));
    for (const runId of queued) queue.remove(runId);
    await queue.settled();
    // Summaries may be older than a job that was just submitted.
    const active = (await cluster.jobs.list(runIds)).filter(({ phase }) => phase !== 'ended').map(({ run }) => run);
    const waiting = active.filter((runId) => !this.isTraining(runId));
    const training = runIds.filter((runId) => this.isTraining(runId));
    // Before the jobs, because the controller may not answer.
    await Promise.all(training.map((runId) => runs.command(runId, 'stop').catch(ignoring('run_not_active'))));
    if (waiting.length > 0) await cluster.cancel(waiting).finally(() => jobPoller.changed(waiting));
    this.publish(id);
  }

  /**
   * Moves a sweep to the trash, with its runs if `withRuns`; otherwise they keep their names. Keeps the sweep if one of them can't be deleted. Throws
   * `study_active` if one is queued or training.
   */
  async delete(id: string, withRuns: boolean): Promise<Output<'studies.delete'>> {
    const { studyFiles, supervisor, trash, notices } = this.parts;
    const runIds = this.runIds(id);
    if (this.starting.has(id) || this.summary(id).runs.active > 0)
      throw new Failure(
        'study_active',
        `Runs of the sweep ${id} are queued or running.`,
        'Cancel the sweep, then delete it after its runs have stopped.',
      );
    const toDelete = withRuns ? runIds.filter((runId) => this.stateOf(runId)) : [];
    const { deleted, refused } = await trash.delete(toDelete);
    if (refused.length > 0) return { deleted, refused };
    if (!withRuns) await this.keepNames(runIds.filter((runId) => this.stateOf(runId)));
    studyFiles.discard(id);
    for (const runId of runIds) this.published.delete(runId);
    supervisor.publishSummaries(runIds);
    notices.emit('study', { studyId: id, summary: null });
    notices.emit('trash', {});
    return { deleted, refused };
  }

  /** Stores the names that runs have because of their sweep, where the user gave no other. Cuts the start of a long one. */
  private async keepNames(runIds: readonly string[]): Promise<void> {
    const { annotations, runs } = this.parts;
    for (const runId of runIds) {
      const { name } = runs.get(runId);
      if (annotations.marks(runId).name === '')
        await annotations.annotate({
          runId,
          name: name.length > maxNameLength ? `…${name.slice(1 - maxNameLength)}` : name,
        });
    }
  }

  /** Returns the deleted sweeps that can still be restored, newest first. */
  trashed(): TrashedStudy[] {
    const all = this.parts.studyFiles.trashed();
    return all.map((study) => ({ ...study, until: study.deletedAt + retention }));
  }

  /** Restores a deleted sweep and the given runs from the trash. Throws `study_unknown` if it was permanently deleted, or as {@link Trash.restore} does. */
  async restore(id: string, trashIds: readonly string[]): Promise<void> {
    const { studyFiles, supervisor, trash, notices } = this.parts;
    if (!studyFiles.restore(id))
      throw new Failure(
        'study_unknown',
        'The sweep is no longer in the trash.',
        'It was already restored, or permanently deleted.',
      );
    supervisor.publishSummaries(this.runIds(id));
    this.publish(id);
    notices.emit('trash', {});
    await trash.restore(trashIds);
  }

  /** Returns the base configuration of a sweep. */
  config(id: string): RunConfig {
    return this.parts.studyFiles.get(id).config as unknown as RunConfig;
  }

  summary(id: string): StudySummary {
    return summarize(id, this.parts.studyFiles.get(id), this.stateOf);
  }

  /** Cancels starts in progress; another start continues from there. */
  async close(): Promise<void> {
    this.closed = true;
    for (const stop of this.stops) stop();
    await Promise.all([...this.starting.values()].map(({ ended }) => ended));
  }

  /** Queues the runs seed by seed, so that settings can be compared early. */
  private async queueRuns(id: string, isCanceled: () => boolean): Promise<void> {
    for await (const runId of this.startableRuns(id, true, isCanceled)) this.parts.queue.add(runId);
  }

  /** Yields the runs that can be started, seed by seed, until `isCanceled`. `create`: creates missing ones. */
  private async *startableRuns(id: string, create: boolean, isCanceled = () => false): AsyncGenerator<string> {
    const { studyFiles, runs, supervisor } = this.parts;
    await supervisor.scanNow();
    const { seeds, points, config } = studyFiles.get(id);
    for (const seed of seeds)
      for (const [index, point] of points.entries()) {
        if (isCanceled()) return;
        const runId = studyRunId(id, index, seed);
        if (create && !this.stateOf(runId)) await runs.create({ config, set: { ...point.set, seed } }, runId);
        if (this.isStartable(runId)) yield runId;
      }
  }

  private stateOf: StateOf = (runId) => {
    const { database, supervisor } = this.parts;
    const row = getRun(database, runId);
    if (!row) return null;
    const summary = supervisor.summary(row);
    const { iteration, iterations } = summary;
    // A run whose job waits on a cluster is queued there.
    if (hasWaitingJob(summary)) return { status: 'queued', finished: false, iteration, iterations };
    return { status: summary.status, finished: isFinished(summary), iteration, iterations };
  };

  /** Returns whether a run is not finished, queued or running. A run that stopped early is finished: resuming it would train it beyond the rule. */
  private isStartable(runId: string): boolean {
    const state = this.stateOf(runId);
    return !state || (!state.finished && !isActive(state.status));
  }

  private isTraining(runId: string): boolean {
    const state = this.stateOf(runId);
    return state !== null && isLive(state.status);
  }

  private runIds(id: string): string[] {
    const { points, seeds } = this.parts.studyFiles.get(id);
    return points.flatMap((_, point) => seeds.map((seed) => studyRunId(id, point, seed)));
  }

  private publishProgress({ id, study, status, iteration, job }: RunSummary): void {
    const progress = `${status} ${iteration} ${job?.phase}`;
    if (!study || this.published.get(id) === progress) return;
    this.published.set(id, progress);
    this.publish(study.id);
  }

  private publish(id: string | undefined): void {
    if (id === undefined || this.closed) return;
    this.parts.notices.emit('study', { studyId: id, summary: this.summary(id) });
  }

  private freeId(name: string): string {
    const id = `${slug(name, 32) || 'study'}-${randomBytes(2).toString('hex')}`;
    return this.parts.studyFiles.isFree(id) ? id : this.freeId(name);
  }
}
