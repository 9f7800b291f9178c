import { setImmediate } from 'node:timers/promises';
import { Coalescer } from '../base/coalescer.ts';
import type { Emitter } from '../base/emitter.ts';
import type { Notices } from '../base/notices.ts';
import { processExists } from '../base/process.ts';
import type { EchoTrap, RunJob, RunSummary, Stall } from '../contract/contract.ts';
import { isLive } from '../contract/run-facts.ts';
import type { History } from '../history/history.ts';
import { eventsAfter, journalProblem, storedMeaning } from '../history/queries.ts';
import { CollapseReader } from '../history/run-collapse.ts';
import { getRun, type RunRow } from '../history/runs-table.ts';
import { runFolder } from '../run-directory/names.ts';
import { AlertPublisher } from './alert-publisher.ts';
import { FolderWatch } from './folder-watch.ts';
import { isLocal, type Liveness } from './liveness.ts';
import { publishEvents } from './publish.ts';
import type { QueueFile } from './queue-file.ts';
import type { RunEvents } from './run-events.ts';
import type { StudyFiles } from './study-files.ts';
import { readStoredPart, type StoredPart, toSummary } from './summary.ts';
import { Throttle } from './throttle.ts';
import type { Watchdog } from './watchdog.ts';

/** Events published per batch, before yielding to other work. */
const batchSize = 100;
/** Minimum time in ms between two checks of the lock of a trainer on another machine. */
const checkInterval = 10_000;

export interface FollowParts {
  history: History;
  home: string;
  notices: Notices;
  events: Emitter<RunEvents>;
  queueFile: QueueFile;
  studyFiles: StudyFiles;
  watchdog: Watchdog;
  liveness: Liveness;
  /** The newest job of each run on a cluster. */
  jobs: ReadonlyMap<string, RunJob>;
  /** Returns the Echo Trap monitor's state for a run. */
  trapOf: (runId: string) => Promise<EchoTrap | null>;
  log: (message: string) => void;
}

/** The state that was last published or logged. */
interface Published {
  seq: number;
  hasJournalProblem: boolean;
  ingestProblem: string | null;
  queuePosition: number | null;
}

/** A running or paused trainer, and whether it was reported as stalled. */
interface FollowedTrainer {
  /** Null if it runs on another machine, because the operating system doesn't report writes of other machines. */
  watch: FolderWatch | null;
  stalled: boolean;
  /** Time of {@link performance.now} after which its lock may be checked again, if it runs on another machine. */
  checkAfter: number;
  /** Whether its lock was held when it was last checked; null if it was not. Some network file systems hide the locks of other machines. */
  lockHeld: boolean | null;
}

/**
 * Follows one run: ingests new events from its folder and publishes notices. Notices are read from the history, not the file, so that
 * they never run ahead of API answers.
 */
export class FollowedRun {
  readonly id: string;
  private readonly parts: FollowParts;
  private readonly published: Published;
  private readonly alerts: AlertPublisher;
  private readonly collapse: CollapseReader;
  private readonly ingestion = new Coalescer(() => this.ingest());
  private readonly summaries = new Throttle(() => this.publishSummary());
  private readonly traps = new Throttle(() => this.publishTrap().catch((error) => this.parts.log(String(error))));
  /** Null without a running trainer. */
  private trainer: FollowedTrainer | null = null;
  /** Null if the run has changed since. */
  private cachedSummary: RunSummary | null = null;
  /** Null after a change of more than the progress of a phase. */
  private storedPart: StoredPart | null = null;
  private closed = false;

  constructor(parts: FollowParts, row: RunRow) {
    this.id = row.id;
    this.parts = parts;
    this.collapse = new CollapseReader(parts.history.database, row.id);
    this.published = {
      seq: row.last_seq,
      hasJournalProblem: row.journal_problem !== null,
      ingestProblem: null,
      queuePosition: parts.queueFile.position(row.id),
    };
    this.alerts = new AlertPublisher(row.id, parts);
    parts.watchdog.follow(row);
    if (row.annotations_bytes > 0) this.alerts.plan();
  }

  /** Returns null if the run was deleted. */
  summary(): RunSummary | null {
    if (this.cachedSummary) return this.cachedSummary;
    const row = this.row();
    return row ? this.summaryOf(row) : null;
  }

  private summaryOf(row: RunRow): RunSummary {
    const { history, jobs, queueFile, studyFiles } = this.parts;
    this.storedPart ??= readStoredPart(history.database, row, this.collapse);
    this.cachedSummary = toSummary(row, this.storedPart, {
      alive: this.isAlive(row),
      queuePosition: queueFile.position(this.id),
      stalled: this.stallOf(row),
      job: jobs.get(this.id) ?? null,
      study: studyFiles.of(this.id),
    });
    return this.cachedSummary;
  }

  get hasTrainer(): boolean {
    return this.trainer !== null;
  }

  /** Returns whether the run has a running trainer. */
  isAlive(row: RunRow): boolean {
    // Unpublished events may come from a trainer that has just started.
    return this.trainer !== null || row.last_seq > this.published.seq;
  }

  /** Ingests and publishes new events. Throws if files can't be read or the history can't be written. */
  async refresh(): Promise<void> {
    if (!this.closed) await this.ingestion.request();
  }

  /** Ingests and publishes annotations. */
  async ingestAnnotations(): Promise<void> {
    if (await this.parts.history.ingestAnnotations(this.id)) this.publishAnnotations();
  }

  /** Publishes the differences after a rebuild of the history. */
  async catchUp(): Promise<void> {
    this.collapse.reset();
    this.forgetSummary();
    if (!this.closed && this.row()) await this.publish();
  }

  /** Checks whether a trainer is running. */
  async checkAlive(): Promise<void> {
    const running = await this.isRunning();
    if (this.closed) return;
    this.setAlive(running ?? false);
    if (this.trainer) this.trainer.lockHeld = true;
  }

  /** Returns null if its lock can't be checked. */
  private async isRunning(): Promise<boolean | null> {
    const row = this.row();
    return row !== undefined && isLive(row.status) && this.parts.liveness.isRunning(row);
  }

  /** Checks whether the trainer has ended or stalls. Every scan calls it. */
  async checkTrainer(): Promise<void> {
    const { trainer } = this;
    if (!trainer) return;
    const { watchdog } = this.parts;
    if (trainer.watch === null) {
      await this.checkLock(trainer);
      // With hundreds of jobs, the queries below would take most of the time.
      if (!trainer.stalled && !watchdog.isSilent(this.id)) return;
    } else {
      const row = this.row();
      if (row && row.pid !== null && !processExists(row.pid)) {
        await this.refresh();
        await this.checkAlive();
      }
    }
    this.checkStall();
  }

  /**
   * Checks the lock of a trainer on another machine if Slurm reports that its job is not running. Without a job, it checks the lock once, and
   * again while the trainer stalls: its machine may be down.
   */
  private async checkLock(trainer: FollowedTrainer): Promise<void> {
    const phase = this.parts.jobs.get(this.id)?.phase;
    const isFirst = phase === undefined && trainer.lockHeld === null;
    const mayHaveEnded = phase ? phase === 'pending' || phase === 'ended' : trainer.lockHeld && trainer.stalled;
    const now = performance.now();
    if (!(isFirst || mayHaveEnded) || now < trainer.checkAfter) return;
    if (!isFirst) trainer.checkAfter = now + checkInterval;
    await this.refresh();
    if (phase) await this.checkAlive();
    else await this.checkHeldLock(trainer);
  }

  /** Only the release of a held lock shows that a trainer has ended: two trainers must never run on the same run. */
  private async checkHeldLock(trainer: FollowedTrainer): Promise<void> {
    const running = await this.isRunning();
    if (this.closed || this.trainer !== trainer) return;
    if (running === null) trainer.checkAfter = performance.now() + checkInterval;
    else if (trainer.lockHeld && !running) this.setAlive(false);
    else trainer.lockHeld = running;
  }

  publishQueuePosition(position: number | null): void {
    if (position === this.published.queuePosition) return;
    this.published.queuePosition = position;
    this.changed({ immediate: true });
  }

  /** Publishes a new summary. */
  changed({ immediate }: { immediate: boolean }): void {
    this.forgetSummary();
    if (!this.closed) this.summaries.publish({ immediate });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.trainer?.watch?.close();
    this.alerts.close();
    await this.summaries.close();
    await this.ingestion.settled();
    // `traps` reads the history while it closes.
    await this.traps.close();
  }

  private forgetSummary(): void {
    this.cachedSummary = null;
    this.storedPart = null;
  }

  private row(): RunRow | undefined {
    return getRun(this.parts.history.database, this.id);
  }

  private async ingest(): Promise<void> {
    for (let more = true; more && !this.closed; ) {
      const ingested = await this.parts.history.ingest(this.id);
      more = ingested.more;
      if (this.closed) return;
      this.cachedSummary = null;
      if (ingested.trapChanged) this.storedPart = null;
      const hasEvents = await this.publish();
      if (ingested.annotated) this.publishAnnotations();
      if (ingested.trapChanged && !this.closed) this.publishTrapSoon(hasEvents);
      this.logProblem(ingested.problem);
    }
  }

  private logProblem(problem: string | null): void {
    if (problem !== null && problem !== this.published.ingestProblem) this.parts.log(`${this.id}: ${problem}`);
    this.published.ingestProblem = problem;
  }

  /** Publishes the history's new events. Returns whether there were any besides the progress of a phase. */
  private async publish(): Promise<boolean> {
    const { notices, watchdog } = this.parts;
    const { published } = this;
    const row = this.row();
    if (!row) return false;
    if (row.last_seq < published.seq) {
      // The journal was replaced or edited, which invalidates all published state.
      published.seq = -1;
      this.collapse.reset();
      notices.emit('metrics', { runId: this.id, truncateAfter: -1, points: [] });
      this.changed({ immediate: true });
    }
    const problem = journalProblem(row);
    if (problem && !published.hasJournalProblem) notices.emit('log', { runId: this.id, line: problem });
    published.hasJournalProblem = problem !== null;
    if (row.last_seq === published.seq) return false;
    watchdog.recordActivity(this.id);
    const hasEvents = await this.publishBatches();
    if (this.closed) return hasEvents;
    // `phase` events are not stored.
    published.seq = Math.max(published.seq, row.last_seq);
    // The lock of a trainer on another machine may be invisible here.
    if (!isLocal(row)) this.setAlive(isLive(row.status));
    if (hasEvents) this.changed({ immediate: true });
    // Only clients need the progress of a phase.
    else if (notices.isAccepted('run', this.id)) this.summaries.publish({ immediate: false });
    return hasEvents;
  }

  /** Returns whether there were events. */
  private async publishBatches(): Promise<boolean> {
    const { history, notices, events } = this.parts;
    const { id: runId, alerts, published } = this;
    const first = published.seq;
    while (!this.closed) {
      const stored = eventsAfter(history.database, runId, published.seq, { limit: batchSize });
      if (stored.length === 0) break;
      const batch = stored.map(({ seq, time, type, body }) => {
        return { seq, time, type, meaning: storedMeaning({ type, body }) };
      });
      published.seq = batch.at(-1)!.seq;
      if (batch.some(({ meaning }) => meaning.begins)) {
        this.collapse.reset();
        this.setAlive(true);
      }
      publishEvents({ notices, alerts }, runId, batch);
      events.emit('journal', { runId, events: batch });
      if (batch.length === batchSize) await setImmediate();
    }
    return published.seq > first;
  }

  /** Does nothing while the history is ahead of the published events: their publication ends with a summary. */
  private publishSummary(): void {
    const row = this.row();
    if (!row || row.last_seq > this.published.seq) return;
    const summary = this.cachedSummary ?? this.summaryOf(row);
    this.parts.notices.emit('run', summary);
    this.parts.events.emit('summary', summary);
  }

  /** Publishes the trap. `isSummarized`: whether a summary with its state was just published. */
  private publishTrapSoon(isSummarized: boolean): void {
    if (!isSummarized) this.changed({ immediate: true });
    if (this.parts.notices.isAccepted('echoTrap', this.id)) this.traps.publish({ immediate: false });
  }

  private async publishTrap(): Promise<void> {
    const { notices, trapOf } = this.parts;
    const echoTrap = await trapOf(this.id);
    if (!this.closed) notices.emit('echoTrap', { runId: this.id, echoTrap });
  }

  private publishAnnotations(): void {
    if (this.closed) return;
    this.alerts.publish();
    this.changed({ immediate: true });
  }

  private setAlive(alive: boolean): void {
    if (alive === (this.trainer !== null)) return;
    this.trainer?.watch?.close();
    const row = alive ? this.row() : undefined;
    this.trainer = row
      ? { watch: isLocal(row) ? this.watchFolder() : null, stalled: false, checkAfter: 0, lockHeld: null }
      : null;
    this.changed({ immediate: false });
  }

  private watchFolder(): FolderWatch {
    const { home, log } = this.parts;
    return new FolderWatch(runFolder(home, this.id), () => {
      this.refresh().catch((error) => log(String(error)));
    });
  }

  private stallOf(row: RunRow): Stall | null {
    return this.trainer && row.status === 'running' ? this.parts.watchdog.stall(row) : null;
  }

  /** Publishes when the trainer starts to stall or recovers. */
  private checkStall(): void {
    const row = this.trainer && this.row();
    if (!this.trainer || !row) return;
    const stall = this.stallOf(row);
    if (this.trainer.stalled === (stall !== null)) return;
    this.trainer.stalled = stall !== null;
    if (stall) this.parts.log(`${this.id}: ${stall.message} ${stall.hint}`);
    this.changed({ immediate: true });
  }
}
