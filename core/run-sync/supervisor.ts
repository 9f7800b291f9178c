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
/** Runs that are taken in at once at the start: the writer has something to do while others are looked at here. */
const takenInAtOnce = 4;

export type SupervisorParts = Omit<FollowParts, 'heard' | 'trapOf'>;
type EventsHandler = (runId: string, events: readonly StoredEvent[]) => void;

/** Follows every run directory of a data folder into the history and tells clients what changes. */
export class Supervisor {
  private readonly parts: FollowParts;
  private readonly followed = new Map<string, FollowedRun>();
  private readonly adding = new Map<string, Promise<void>>();
  private readonly handlers = new Set<EventsHandler>();
  /** What was logged last about each thing. */
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
   * Takes in what happened while nobody looked, finds living trainers, and begins to follow. `progress` hears how many runs are done, of how many.
   * Throws `disk_full` where there is no room to take all in; it is tried again from then on.
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
    const takeIn = async () => {
      for (const runId of work) {
        if (this.closed) return;
        await this.add(runId, grown.has(runId));
        progress(++done, all.size);
      }
    };
    await Promise.all(Array.from({ length: takenInAtOnce }, takeIn));
  }

  /** Looks at the data folder now: what was deleted or came until this call is known when it settles. */
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

  /** Every run that is followed, in any order. */
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

  /** What the Echo Trap's monitor says of a run, with advice as things are; null where there is nothing to judge. */
  async trap(runId: string): Promise<EchoTrap | null> {
    const { history, home } = this.parts;
    const trap = await history.trap(runId);
    const row = getRun(history.database, runId);
    return trap && row ? asThingsAre(trap, home, runId, this.isActive(row)) : null;
  }

  /** Whether a trainer is at work on a run, or paused. */
  isActive(row: RunRow): boolean {
    const open = isLive(row.status);
    // One that isn't followed yet was started by somebody else just now.
    return open && (this.followed.get(row.id)?.isAlive(row) ?? true);
  }

  /** The queue may have changed: tells of every run that has another place in it. */
  lookAtQueue(): void {
    const positions = this.parts.queue.positions();
    for (const run of this.followed.values()) run.lookAtQueue(positions.get(run.id) ?? null);
  }

  /** What is known of some runs from elsewhere has changed: tells of them. */
  lookAgainAt(runIds: readonly string[]): void {
    for (const runId of runIds) this.followed.get(runId)?.changed(true);
  }

  /** Takes in what was said of a run, and tells of it. */
  async lookAtAnnotations(runId: string): Promise<void> {
    await this.followed.get(runId)?.lookAtAnnotations();
  }

  /** Hears the events of all runs as they come in. */
  onEvents(handler: EventsHandler): () => void {
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  /** Begins to follow a run directory that has just been made or found; settles once what it holds is taken in. `grown`: whether there is anything to be. */
  add(runId: string, grown = true): Promise<void> {
    const known = this.followed.get(runId);
    if (known) return this.refresh(runId);
    const adding =
      this.adding.get(runId) ?? this.begin(runId, grown).finally(() => this.adding.delete(runId));
    this.adding.set(runId, adding);
    return adding;
  }

  /** Waits for a run that is there and is still to be taken in after the start. */
  async find(runId: string): Promise<void> {
    if (!this.poll && !this.closed && !this.followed.has(runId)) await this.add(runId);
  }

  /** Takes in what is new in a run's journal, and tells of it. */
  async refresh(runId: string): Promise<void> {
    await this.trying(`Following ${runId}`, async () => this.followed.get(runId)?.refresh());
  }

  /** Makes the history again from the run directories, and tells of runs whose directory is gone. */
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

  /** A trainer of this process has ended: what its journal doesn't say is that it was interrupted. */
  async trainerEnded(runId: string): Promise<void> {
    await this.refresh(runId);
    if (!this.closed) await this.followed.get(runId)?.checkAlive();
  }

  /** Whoever hears of a run may rely on all of it, so it is followed from where its journal ended just now. */
  private async begin(runId: string, grown: boolean): Promise<void> {
    const { history } = this.parts;
    await this.trying(`Following ${runId}`, async () => {
      for (let more = grown; more && !this.closed; ) {
        const taken = await history.takeIn(runId);
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

  /** Looks at every run directory: new ones, grown journals, trainers that are gone. */
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

  /** A run's directory is gone, or another's has come in its place. */
  private forget(runId: string): void {
    const run = this.followed.get(runId);
    if (!run) return;
    void run.close();
    this.followed.delete(runId);
    this.parts.watchdog.forget(runId);
    this.parts.notices.emit('removed', { runId });
  }

  /**
   * What goes wrong with one run is logged, and keeps nothing else from going on; what is tried again every second is said once. Throws `disk_full` where
   * that isn't tried again.
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
