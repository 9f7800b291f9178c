import type { EchoTrap, RebuildReport, RunSummary } from '../contract/contract.ts';
import { asDiskFull } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import type { StoredEvent } from '../history/queries.ts';
import type { RebuildOptions } from '../history/rebuild.ts';
import { getRun, listRunIds, type RunRow } from '../history/runs-table.ts';
import { FollowedRun, type FollowParts } from './followed-run.ts';
import { asThingsAre } from './shown-trap.ts';
import { toSummary } from './summary.ts';

const pollInterval = 1000;
/** Runs ingested concurrently at the start, which keeps the writer busy. */
const takenInAtOnce = 4;

export type SupervisorParts = Omit<FollowParts, 'heard' | 'trapOf'>;
type EventsHandler = (runId: string, events: readonly StoredEvent[]) => void;

/** Follows all run folders of a data folder: ingests them and publishes changes. */
export class Supervisor {
  private readonly parts: FollowParts;
  private readonly followed = new Map<string, FollowedRun>();
  private readonly adding = new Map<string, Promise<void>>();
  private readonly handlers = new Set<EventsHandler>();
  /** Last logged message per subject. */
  private readonly problems = new Map<string, string>();
  private poll: NodeJS.Timeout | null = null;
  private polling: Promise<void> | null = null;
  private closed = false;

  constructor(parts: SupervisorParts) {
    const heard: EventsHandler = (runId, events) => {
      for (const handler of [...this.handlers]) handler(runId, events);
    };
    this.parts = { ...parts, heard, trapOf: (runId) => this.trap(runId) };
  }

  /**
   * Ingests all runs, finds running trainers and starts to follow. `progress` receives the runs done and in total.
   * Throws `disk_full`; ingestion is retried from then on.
   */
  async start(progress: (done: number, total: number) => void = () => {}): Promise<void> {
    try {
      await this.takeInAll(progress);
    } finally {
      if (!this.closed) this.poll = setInterval(() => this.lookAgain(), pollInterval);
    }
  }

  private async takeInAll(progress: (done: number, total: number) => void): Promise<void> {
    const { removed, added, changed } = await this.parts.history.survey();
    for (const runId of removed) this.forget(runId);
    const grown = new Set([...added, ...changed]);
    const all = new Set([...grown, ...listRunIds(this.parts.history.database)]);
    let done = 0;
    const work = all.values();
    const ingest = async () => {
      for (const runId of work) {
        if (this.closed) return;
        await this.add(runId, grown.has(runId));
        progress(++done, all.size);
      }
    };
    await Promise.all(Array.from({ length: takenInAtOnce }, ingest));
  }

  /** Scans the data folder now; resolves when all changes up to this call are known. */
  async lookNow(): Promise<void> {
    await this.polling;
    this.lookAgain();
    await this.polling;
  }

  private lookAgain(): void {
    this.polling ??= this.look().finally(() => {
      this.polling = null;
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.poll) clearInterval(this.poll);
    await this.polling;
    await Promise.allSettled(this.adding.values());
    await Promise.all([...this.followed.values()].map((run) => run.close()));
  }

  /** All followed runs, in any order. */
  list(): RunSummary[] {
    return [...this.followed.values()].flatMap((run) => run.summaryIfThere() ?? []);
  }

  summary(row: RunRow): RunSummary {
    const { history, queue, studies } = this.parts;
    const run = this.followed.get(row.id);
    const followed = run?.summaryIfThere();
    if (followed) return followed;
    const queuePosition = queue.position(row.id);
    const study = studies.of(row.id);
    return toSummary(history.database, row, { alive: false, queuePosition, stalled: null, study });
  }

  /** Returns the Echo Trap monitor's state for a run, with current advice; null without data. */
  async trap(runId: string): Promise<EchoTrap | null> {
    const { history, home } = this.parts;
    const trap = await history.trap(runId);
    const row = getRun(history.database, runId);
    return trap && row ? asThingsAre(trap, home, runId, this.isActive(row)) : null;
  }

  /** Whether a run has a running or paused trainer. */
  isActive(row: RunRow): boolean {
    const open = isLive(row.status);
    // A run not followed yet was just started elsewhere.
    return open && (this.followed.get(row.id)?.isAlive(row) ?? true);
  }

  /** Publishes changed queue positions. */
  lookAtQueue(): void {
    const positions = this.parts.queue.positions();
    for (const run of this.followed.values()) run.lookAtQueue(positions.get(run.id) ?? null);
  }

  /** Publishes the summaries of the given runs. */
  lookAgainAt(runIds: readonly string[]): void {
    for (const runId of runIds) this.followed.get(runId)?.changed(true);
  }

  /** Ingests and publishes a run's annotations. */
  async lookAtAnnotations(runId: string): Promise<void> {
    await this.followed.get(runId)?.lookAtAnnotations();
  }

  /** Subscribes to the events of all runs. */
  onEvents(handler: EventsHandler): () => void {
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  /** Follows a new run folder; resolves when it is ingested. `grown` is whether it has anything to ingest. */
  add(runId: string, grown = true): Promise<void> {
    const known = this.followed.get(runId);
    if (known) return this.refresh(runId);
    const adding =
      this.adding.get(runId) ?? this.begin(runId, grown).finally(() => this.adding.delete(runId));
    this.adding.set(runId, adding);
    return adding;
  }

  /** Waits until an existing run is ingested. */
  async find(runId: string): Promise<void> {
    if (!this.poll && !this.closed && !this.followed.has(runId)) await this.add(runId);
  }

  /** Ingests and publishes new journal events of a run. */
  async refresh(runId: string): Promise<void> {
    await this.trying(`Following ${runId}`, async () => this.followed.get(runId)?.refresh());
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

  /** A trainer of this process has ended; without an end in its journal, the run was interrupted. */
  async trainerEnded(runId: string): Promise<void> {
    await this.refresh(runId);
    if (!this.closed) await this.followed.get(runId)?.checkAlive();
  }

  /** Follows a run from the current end of its journal, so that subscribers get every later event. */
  private async begin(runId: string, grown: boolean): Promise<void> {
    const { history } = this.parts;
    await this.trying(`Following ${runId}`, async () => {
      for (let more = grown; more && !this.closed; ) {
        const taken = await history.ingest(runId);
        more = taken.more;
        if (taken.problem !== null) this.parts.log(`${runId}: ${taken.problem}`);
      }
    });
    if (this.closed) return;
    const row = getRun(history.database, runId);
    if (!row) return;
    const run = new FollowedRun(this.parts, row);
    await run.checkAlive();
    if (this.closed) return;
    this.followed.set(runId, run);
    run.changed(true);
  }

  /** Checks every run folder for new runs, grown journals and ended trainers. */
  private async look(): Promise<void> {
    await this.trying('Looking at the data folder', async () => {
      const { removed, added, changed } = await this.parts.history.survey();
      if (this.closed) return;
      for (const runId of removed) this.forget(runId);
      for (const runId of [...added, ...changed]) {
        await this.add(runId);
        if (this.closed) return;
      }
      for (const run of this.followed.values())
        if (run.hasTrainer) await this.trying(`Following ${run.id}`, () => run.lookAtTrainer());
      this.lookAtQueue();
    });
  }

  /** A run's folder was deleted or replaced. */
  private forget(runId: string): void {
    const run = this.followed.get(runId);
    if (!run) return;
    void run.close();
    this.followed.delete(runId);
    this.parts.watchdog.forget(runId);
    this.parts.notices.emit('removed', { runId });
  }

  /**
   * Logs a run's errors without affecting other runs; repeated errors are logged once. Throws `disk_full` until
   * polling has started, because polling retries.
   */
  private async trying(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const full = asDiskFull(error);
      if (full && !this.poll) throw full;
      const message = error instanceof Error ? error.message : String(error);
      const text = full ? `${what}: ${full.message}. ${full.hint}` : `${what}: ${message}`;
      if (this.problems.get(what) !== text && !this.closed) this.parts.log(text);
      this.problems.set(what, text);
    }
  }
}
