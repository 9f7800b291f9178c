import { Coalescer } from '../base/coalescer.ts';
import { Emitter } from '../base/emitter.ts';
import { FolderGuard } from '../base/folder-guard.ts';
import type { EchoTrap, RebuildReport, RunSummary } from '../contract/contract.ts';
import { asDiskFull, messageOf } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import type { RebuildOptions } from '../history/rebuild.ts';
import { CollapseReader } from '../history/run-collapse.ts';
import { getRun, listRunIds, type RunRow } from '../history/runs-table.ts';
import { withCurrentAdvice } from './current-advice.ts';
import { FollowedRun, type FollowParts } from './followed-run.ts';
import type { RunEvents } from './run-events.ts';
import { readStoredPart, toSummary } from './summary.ts';

const pollInterval = 1000;
/** Minimum time in ms between two polls per running trainer, so that following hundreds of jobs takes a few percent of a core. */
const timePerTrainer = 15;
/** Runs ingested concurrently at the start, which keeps the writer busy. */
const concurrentRuns = 4;
/** Runs ingested together by a scan. More would block this process while their events are published. */
const batchSize = 50;

type SupervisorParts = Omit<FollowParts, 'events' | 'trapOf'>;

/** Follows all run folders of a data folder: ingests them and publishes changes. */
export class Supervisor {
  /** For the services of this process. */
  readonly events: Emitter<RunEvents>;
  private readonly parts: FollowParts;
  private readonly followed = new Map<string, FollowedRun>();
  /** Without it, a moved data folder would look like deleted runs. */
  private readonly guard: FolderGuard;
  private readonly adding = new Map<string, Promise<void>>();
  private readonly scans = new Coalescer(() => this.scan());
  /** Last logged message per subject. */
  private readonly problems = new Map<string, string>();
  /** Ids of the folders that the last scan could not index. */
  private unreadable = '';
  private poll: NodeJS.Timeout | null = null;
  /** Time of {@link performance.now} before which the timer starts no scan. */
  private pollAfter = 0;
  private closed = false;

  constructor(parts: SupervisorParts) {
    this.events = new Emitter((error) => parts.log(`A handler of run events failed: ${messageOf(error)}`));
    this.parts = { ...parts, events: this.events, trapOf: (runId) => this.trap(runId) };
    this.guard = new FolderGuard(parts.home);
  }

  /**
   * Ingests all runs, finds running trainers and starts to follow. `progress` receives the number of ingested runs and of all runs.
   * Throws `disk_full`; ingestion is retried from then on.
   */
  async start(progress: (done: number, total: number) => void = () => {}): Promise<void> {
    try {
      await this.ingestAll(progress);
    } finally {
      if (!this.closed) this.poll = setInterval(() => this.pollNow(), pollInterval);
    }
  }

  private async ingestAll(progress: (done: number, total: number) => void): Promise<void> {
    const { removed, added, changed } = await this.parts.history.survey();
    for (const runId of removed) this.forget(runId);
    const grown = new Set([...added, ...changed]);
    const all = new Set([...grown, ...listRunIds(this.parts.history.database)]);
    let done = 0;
    const remaining = all.values();
    const ingest = async () => {
      for (const runId of remaining) {
        if (this.closed) return;
        await this.add(runId, grown.has(runId));
        progress(++done, all.size);
      }
    };
    await Promise.all(Array.from({ length: concurrentRuns }, ingest));
  }

  /** Scans the data folder. Resolves when all changes up to this call are ingested. */
  async scanNow(): Promise<void> {
    await this.scans.request();
  }

  private pollNow(): void {
    if (this.scans.isRunning || performance.now() < this.pollAfter) return;
    const trainers = [...this.followed.values()].filter((run) => run.hasTrainer).length;
    // Half an interval less, because the timer is not exact.
    this.pollAfter = performance.now() + trainers * timePerTrainer - pollInterval / 2;
    void this.scans.request();
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.poll) clearInterval(this.poll);
    await this.scans.settled();
    await Promise.allSettled(this.adding.values());
    await Promise.all([...this.followed.values()].map((run) => run.close()));
    this.guard.close();
  }

  /** Returns the summaries of all followed runs, in any order. */
  list(): RunSummary[] {
    return [...this.followed.values()].flatMap((run) => run.summary() ?? []);
  }

  summary(row: RunRow): RunSummary {
    const { history, jobs, queueFile, studyFiles } = this.parts;
    const followed = this.followed.get(row.id)?.summary();
    if (followed) return followed;
    const queuePosition = queueFile.position(row.id);
    const study = studyFiles.of(row.id);
    const collapse = new CollapseReader(history.database, row.id);
    const job = jobs.get(row.id) ?? null;
    const stored = readStoredPart(history.database, row, collapse);
    return toSummary(row, stored, { alive: false, queuePosition, stalled: null, job, study });
  }

  /** Returns the Echo Trap monitor's state for a run, with current advice; null without data. */
  async trap(runId: string): Promise<EchoTrap | null> {
    const { history, home } = this.parts;
    const trap = await history.trap(runId);
    const row = getRun(history.database, runId);
    return trap && row ? withCurrentAdvice(trap, home, runId, this.isActive(row)) : null;
  }

  /** Returns whether a run has a running or paused trainer. */
  isActive(row: RunRow): boolean {
    // A run that is not followed yet was just started by another process.
    return isLive(row.status) && (this.followed.get(row.id)?.isAlive(row) ?? true);
  }

  /** Publishes changed queue positions. */
  publishQueue(): void {
    const positions = this.parts.queueFile.positions();
    for (const run of this.followed.values()) run.publishQueuePosition(positions.get(run.id) ?? null);
  }

  /** Publishes new summaries of the given runs. */
  publishSummaries(runIds: readonly string[]): void {
    for (const runId of runIds) this.followed.get(runId)?.changed({ immediate: true });
  }

  /** Ingests and publishes a run's annotations. */
  async ingestAnnotations(runId: string): Promise<void> {
    await this.followed.get(runId)?.ingestAnnotations();
  }

  /** Follows a new run folder; resolves when it is ingested. `grown`: whether the folder has anything to ingest. */
  add(runId: string, grown = true): Promise<void> {
    if (this.followed.has(runId)) return this.refresh(runId);
    const adding = this.adding.get(runId) ?? this.begin(runId, grown).finally(() => this.adding.delete(runId));
    this.adding.set(runId, adding);
    return adding;
  }

  /** Waits until an existing run is ingested. */
  async find(runId: string): Promise<void> {
    if (!this.poll && !this.closed && !this.followed.has(runId)) await this.add(runId);
  }

  /** Ingests and publishes new journal events of a run. */
  async refresh(runId: string): Promise<void> {
    await this.attempt(`Following ${runId}`, async () => this.followed.get(runId)?.refresh());
  }

  /** Rebuilds the history from the run folders and publishes deleted runs. */
  async rebuild(options: RebuildOptions = {}): Promise<RebuildReport> {
    const { history } = this.parts;
    try {
      return await history.rebuild(options);
    } finally {
      for (const run of [...this.followed.values()]) {
        if (getRun(history.database, run.id)) await run.catchUp();
        else this.forget(run.id);
      }
    }
  }

  /** Call when a trainer of this process has ended. If its journal has no end, the run was interrupted. */
  async trainerEnded(runId: string): Promise<void> {
    await this.refresh(runId);
    if (!this.closed) await this.followed.get(runId)?.checkAlive();
  }

  /** Follows a run from the current end of its journal, so that subscribers get every later event. */
  private async begin(runId: string, grown: boolean): Promise<void> {
    const { history } = this.parts;
    await this.attempt(`Following ${runId}`, async () => {
      for (let more = grown; more && !this.closed; ) {
        const ingested = await history.ingest(runId);
        more = ingested.more;
        if (ingested.problem !== null) this.parts.log(`${runId}: ${ingested.problem}`);
      }
    });
    if (this.closed) return;
    const row = getRun(history.database, runId);
    if (!row) return;
    const run = new FollowedRun(this.parts, row);
    await run.checkAlive();
    if (this.closed) return await run.close();
    this.followed.set(runId, run);
    run.changed({ immediate: true });
  }

  /** Checks every run folder for new runs, grown journals and ended trainers. */
  private async scan(): Promise<void> {
    await this.attempt('Scanning the data folder', async () => {
      const moved = this.guard.check();
      if (moved) throw moved;
      const { removed, added, changed } = await this.parts.history.survey();
      if (this.closed) return;
      for (const runId of removed) this.forget(runId);
      const grown = [...added, ...changed];
      for (let from = 0; from < grown.length; from += batchSize) {
        await Promise.all(grown.slice(from, from + batchSize).map((runId) => this.add(runId)));
        if (this.closed) return;
      }
      this.publishUnreadable(added);
      for (const run of this.followed.values()) await this.attempt(`Following ${run.id}`, () => run.checkTrainer());
      this.publishQueue();
    });
  }

  /** Publishes a change of the folders that are not indexed. `added`: folders that were not in the history before the scan. */
  private publishUnreadable(added: readonly string[]): void {
    const unreadable = added.filter((runId) => !this.followed.has(runId)).join();
    if (unreadable !== this.unreadable) this.parts.notices.emit('unreadable', {});
    this.unreadable = unreadable;
  }

  /** Call when a run's folder was deleted or replaced. */
  private forget(runId: string): void {
    const run = this.followed.get(runId);
    if (!run) return;
    void run.close();
    this.followed.delete(runId);
    this.parts.watchdog.forget(runId);
    this.parts.notices.emit('removed', { runId });
    this.events.emit('removed', { runId });
  }

  /**
   * Logs a run's errors without affecting other runs; repeated errors are logged once. Throws `disk_full` until
   * polling has started, because polling retries.
   */
  private async attempt(subject: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const full = asDiskFull(error);
      if (full && !this.poll) throw full;
      const message = full ? `${full.message} ${full.hint}` : messageOf(error);
      if (this.problems.get(subject) !== message && !this.closed) this.parts.log(`${subject}: ${message}`);
      this.problems.set(subject, message);
    }
  }
}
