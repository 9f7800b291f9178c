import { randomBytes } from 'node:crypto';
import type { Notices } from '../base/notices.ts';
import type {
  Input,
  Output,
  RunSource,
  RunSummary,
  Study,
  StudySummary,
  TrashedStudy,
} from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { HistoryDatabase } from '../history/database.ts';
import type { HistoryReader } from '../history/reader.ts';
import { getRun } from '../history/runs-table.ts';
import type { Queue } from '../queue/queue.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { keptFor, type Trash } from '../run-library/trash.ts';
import { type StudyFile, type StudyFiles, studyRunId } from '../run-sync/study-files.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import { type CreateRunParts, prepareConfig } from '../runs/create-run.ts';
import type { Runs } from '../runs/runs.ts';
import { RunLabels } from './labels.ts';
import { isActive, type Look, summarise, tabulate } from './table.ts';

export interface StudiesParts extends CreateRunParts {
  database: HistoryDatabase;
  reader: HistoryReader;
  files: StudyFiles;
  runs: Runs;
  queue: Queue;
  supervisor: Supervisor;
  trash: Trash;
  notices: Notices;
}

/**
 * Sweeps (`study` in code): points, each a set of changes to one configuration, times seeds. A file defines a sweep; its progress follows from its runs,
 * whose names consist of the sweep's id, the point's number and the seed.
 */
export class Studies {
  private readonly parts: StudiesParts;
  /** The last summary of each run that was sent to clients. */
  private readonly told = new Map<string, string>();
  /** Studies whose start is under way, and whether it is given up. */
  private readonly starting = new Map<string, { cancelled: boolean; ended: Promise<unknown> }>();
  private readonly labels: RunLabels;
  private readonly stopNotices: () => void;
  private closed = false;

  constructor(parts: StudiesParts) {
    this.parts = parts;
    this.labels = new RunLabels(parts.reader);
    this.stopNotices = parts.notices.on((name, payload) => {
      if (name === 'run') this.hear(payload as RunSummary);
      if (name !== 'removed') return;
      const { runId } = payload as { runId: string };
      this.labels.forget(runId);
      this.tell(parts.files.of(runId)?.id);
    });
  }

  /** Oldest first. */
  list(): StudySummary[] {
    return this.parts.files
      .look()
      .map((id) => this.summary(id))
      .sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  }

  /** Throws `study_unknown` or `study_unreadable`, as everything below. */
  async get(id: string): Promise<Study> {
    const { database, files } = this.parts;
    const file = files.get(id);
    for (const [index, point] of file.points.entries())
      for (const seed of file.seeds) {
        const runId = studyRunId(id, index, seed);
        const run = this.look(runId);
        if (run?.status === 'completed') await this.labels.read(runId, run.iteration, file.config, point);
      }
    const table = tabulate(database, id, file, this.look, this.labels);
    return { summary: this.summary(id), table };
  }

  /**
   * Throws what making a run of any of its points would (the message names the point), `environment_unknown`, or `study_invalid` where two points or seeds are
   * the same, or a point sets the seed.
   */
  async create({
    name,
    base,
    set,
    points,
    seeds,
    environment,
    start,
  }: Input<'studies.create'>): Promise<string> {
    checkPoints(points, seeds);
    const config = await prepareConfig(this.parts, { ...base, set });
    for (const point of points) {
      await prepareConfig(this.parts, { config: { ...config }, set: point.set }).catch((error) => {
        const { code, message, hint } = asFailure(error);
        throw new Failure(code, `Point "${point.name}": ${message}`, hint);
      });
    }
    const id = this.freeId(name);
    this.parts.files.write(id, {
      version: 1,
      name,
      created: Date.now(),
      base: baseInWords(base),
      environment: judged(config, environment),
      points,
      seeds,
      config: { ...config },
    });
    this.tell(id);
    if (start) await this.start(id);
    return id;
  }

  /** Throws `study_completed`, or the errors of creating and queueing a run. Runs queued before an error stay queued; another start continues. */
  async start(id: string): Promise<void> {
    const { state } = this.summary(id);
    if (state === 'completed')
      throw new Failure(
        'study_completed',
        `All runs of the sweep ${id} have completed.`,
        'Create another sweep.',
      );
    const known = this.starting.get(id);
    if (known) return void (await known.ended);
    const job = { cancelled: false, ended: Promise.resolve() as Promise<unknown> };
    const work = this.queueRuns(id, () => job.cancelled || this.closed);
    job.ended = work.catch(() => {});
    this.starting.set(id, job);
    try {
      await work;
    } finally {
      this.starting.delete(id);
      this.tell(id);
    }
  }

  /** Takes its runs out of the queue and asks those that are trained to stop. */
  async cancel(id: string): Promise<void> {
    const { queue, runs } = this.parts;
    const runIds = this.runIds(id);
    const job = this.starting.get(id);
    if (job) job.cancelled = true;
    await job?.ended;
    const waiting = queue.list().filter((runId) => runIds.includes(runId));
    for (const runId of waiting) queue.remove(runId);
    await queue.settled();
    const trained = runIds.filter((runId) => ['running', 'paused'].includes(this.look(runId)?.status ?? ''));
    await Promise.all(
      trained.map((runId) =>
        runs.command(runId, 'stop').catch((error) => {
          if (asFailure(error).code !== 'run_not_active') throw error;
        }),
      ),
    );
    this.tell(id);
  }

  /**
   * Moves a study to the trash, with its runs where that is said; it stays where one of them does. Throws `study_active` while a run of it is queued or trained.
   */
  async delete(id: string, withRuns: boolean): Promise<Output<'studies.delete'>> {
    const { files, supervisor, trash, notices } = this.parts;
    const runIds = this.runIds(id);
    if (this.starting.has(id) || this.summary(id).runs.active > 0)
      throw new Failure(
        'study_active',
        `Runs of the sweep ${id} are queued or running.`,
        'Cancel it, and delete it after its runs have stopped.',
      );
    const going = withRuns ? runIds.filter((runId) => this.look(runId)) : [];
    const { deleted, refused } = await trash.delete(going);
    if (refused.length > 0) return { deleted, refused };
    files.discard(id);
    for (const runId of runIds) this.told.delete(runId);
    supervisor.lookAgainAt(runIds);
    notices.emit('study', { studyId: id, summary: null });
    return { deleted, refused };
  }

  /** Deleted ones that can still be taken back, newest first. */
  trashed(): TrashedStudy[] {
    const all = this.parts.files.trashed();
    return all.map((study) => ({ ...study, until: study.deletedAt + keptFor }));
  }

  /** Takes back a study that was deleted, with runs from the trash. Throws `study_unknown` where it is gone for good, or what taking back a run does. */
  async restore(id: string, trashed: readonly string[]): Promise<void> {
    const { files, supervisor, trash } = this.parts;
    if (!files.restore(id))
      throw new Failure(
        'study_unknown',
        'The sweep is no longer in the trash.',
        'It was deleted permanently.',
      );
    supervisor.lookAgainAt(this.runIds(id));
    this.tell(id);
    await trash.restore(trashed);
  }

  summary(id: string): StudySummary {
    return summarise(id, this.parts.files.get(id), this.look);
  }

  /** Cancels starts in progress; another start continues from there. */
  async close(): Promise<void> {
    this.closed = true;
    this.stopNotices();
    await Promise.all([...this.starting.values()].map(({ ended }) => ended));
  }

  /** Seed by seed, so that the points can be compared early. */
  private async queueRuns(id: string, given: () => boolean): Promise<void> {
    const { files, queue, runs, supervisor } = this.parts;
    await supervisor.lookNow();
    const { seeds, points, config } = files.get(id);
    for (const seed of seeds) {
      for (const [index, point] of points.entries()) {
        if (given()) return;
        const runId = studyRunId(id, index, seed);
        if (!this.look(runId)) await runs.create({ config, set: { ...point.set, seed } }, runId);
        const status = this.look(runId)?.status ?? 'created';
        if (status !== 'completed' && !isActive(status)) queue.add(runId);
      }
    }
  }

  private look: Look = (runId) => {
    const { database, supervisor } = this.parts;
    const row = getRun(database, runId);
    if (!row) return null;
    const { status, iteration, iterations } = supervisor.summary(row);
    return { status, iteration, iterations };
  };

  private runIds(id: string): string[] {
    const { points, seeds } = this.parts.files.get(id);
    return points.flatMap((_, point) => seeds.map((seed) => studyRunId(id, point, seed)));
  }

  private hear({ id, study, status, iteration }: RunSummary): void {
    const now = `${status} ${iteration}`;
    if (!study || this.told.get(id) === now) return;
    this.told.set(id, now);
    this.tell(study.id);
  }

  private tell(id: string | undefined): void {
    if (id === undefined || this.closed) return;
    this.parts.notices.emit('study', { studyId: id, summary: this.summary(id) });
  }

  private freeId(name: string): string {
    const plain = name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 32);
    const id = `${plain || 'study'}-${randomBytes(2).toString('hex')}`;
    return this.parts.files.isFree(id) ? id : this.freeId(name);
  }
}

function checkPoints(points: StudyFile['points'], seeds: readonly number[]): void {
  const invalid = (message: string, hint: string) => new Failure('study_invalid', message, hint);
  const names = points.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`Two settings are named "${twice}".`, 'Use unique names.');
  if (new Set(seeds).size < seeds.length) throw invalid('A seed is repeated.', 'List each seed once.');
  const seeding = points.find(({ set }) => set.seed !== undefined);
  if (seeding) throw invalid(`Point "${seeding.name}" sets the seed.`, "Use the sweep's list of seeds.");
  if (points.length * seeds.length > mostRuns)
    throw invalid(
      `${points.length} points with ${seeds.length} seeds are ${points.length * seeds.length} runs.`,
      `A sweep can have at most ${mostRuns}.`,
    );
}

const mostRuns = 2000;

/** The label whose success is judged. Throws `environment_unknown`. */
function judged({ environments }: RunConfig, label: string | undefined): string {
  if (label === undefined) return (environments.find(({ validate }) => validate) ?? environments[0]!).label;
  const labels = environments.map((environment) => environment.label);
  if (labels.includes(label)) return label;
  throw new Failure(
    'environment_unknown',
    `The sweep's runs have no environment ${label}.`,
    `Choose one of ${labels.join(', ')}.`,
  );
}

function baseInWords(base: RunSource): string {
  if ('preset' in base) return base.preset;
  if ('config' in base) return 'configuration';
  return base.checkpoint === undefined ? base.run : `${base.run}@${base.checkpoint}`;
}
