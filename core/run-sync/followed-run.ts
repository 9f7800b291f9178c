import { setImmediate } from 'node:timers/promises';
import type { Notices } from '../base/notices.ts';
import type { Alert, EchoTrap, RunSummary, Stall } from '../contract/contract.ts';
import { isLive } from '../contract/run-facts.ts';
import { readAlerts } from '../history/annotations.ts';
import type { History } from '../history/history.ts';
import { eventsAfter, journalProblem, type StoredEvent } from '../history/queries.ts';
import { getRun, type RunRow } from '../history/runs-table.ts';
import { runFolder } from '../run-directory/names.ts';
import { FolderWatch } from './folder-watch.ts';
import { isLocal, type Liveness, processExists } from './liveness.ts';
import { publishEvents, Throttle } from './publish.ts';
import type { QueueFile } from './queue-file.ts';
import type { StudyFiles } from './study-files.ts';
import { toSummary } from './summary.ts';
import type { Watchdog } from './watchdog.ts';

/** Events published per batch, before yielding to other work. */
const publishedAtOnce = 100;
/** Upper limit for timers, in ms. */
const longestTimer = 86_400_000;

export interface FollowParts {
  history: History;
  home: string;
  notices: Notices;
  queue: QueueFile;
  studies: StudyFiles;
  watchdog: Watchdog;
  liveness: Liveness;
  /** Receives the events of all runs as they are published. */
  heard: (runId: string, events: readonly StoredEvent[]) => void;
  /** Returns the Echo Trap monitor's state for a run. */
  trapOf: (runId: string) => Promise<EchoTrap | null>;
  log: (message: string) => void;
}

/**
 * Follows one run: ingests new events from its folder and publishes notices. Notices are read from the history, not the file, so that
 * they never run ahead of API answers.
 */
export class FollowedRun {
  readonly id: string;
  private readonly parts: FollowParts;
  private readonly throttle: Throttle;
  private readonly trapThrottle: Throttle;
  /** Last published `seq`. */
  private published: number;
  private living = false;
  /** Whether a problem with the journal was published. */
  private problemTold: boolean;
  /** Last logged problem. */
  private troubleTold: string | null = null;
  private watch: FolderWatch | null = null;
  private refreshing: Promise<void> | null = null;
  private again = false;
  /** Pending publication of the monitor's state; it reads the history, which must stay open until then. */
  private tellingTrap = Promise.resolve();
  /** Last published queue position and stall. */
  private position: number | null;
  private stalled = false;
  /** Cached summary, until something changes. */
  private known: RunSummary | null = null;
  /** Fires when the next snooze ends. */
  private waking: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(parts: FollowParts, row: RunRow) {
    this.id = row.id;
    this.parts = parts;
    this.published = row.last_seq;
    this.problemTold = row.journal_problem !== null;
    this.position = parts.queue.position(row.id);
    this.throttle = new Throttle(() => this.publishSummary());
    this.trapThrottle = new Throttle(() => {
      this.tellingTrap = this.tellTrap().catch((error) => parts.log(String(error)));
    });
    parts.watchdog.begin(row);
    if (row.annotations_bytes > 0) this.planWaking(readAlerts(parts.history.database, row.id));
  }

  row(): RunRow | undefined {
    return getRun(this.parts.history.database, this.id);
  }

  /** Null if the run was deleted. */
  summaryIfThere(): RunSummary | null {
    if (this.known) return this.known;
    const row = this.row();
    if (!row) return null;
    const { history, queue, studies } = this.parts;
    this.known = toSummary(history.database, row, {
      alive: this.isAlive(row),
      queuePosition: queue.position(this.id),
      stalled: this.stallOf(row),
      study: studies.of(this.id),
    });
    return this.known;
  }

  /** Whether its trainer is known to be running. */
  isAlive(row: RunRow): boolean {
    // Unread events may come from a trainer that has just started.
    return this.living || row.last_seq > this.published;
  }

  /** Ingests and publishes new events. A call during another repeats that one. Throws as reading files and writing the history do. */
  refresh(): Promise<void> {
    if (this.closed) return Promise.resolve();
    if (this.refreshing) this.again = true;
    this.refreshing ??= this.ingest().finally(() => {
      this.refreshing = null;
    });
    return this.refreshing;
  }

  /** Ingests and publishes annotations. */
  async lookAtAnnotations(): Promise<void> {
    if (await this.parts.history.ingestAnnotations(this.id)) this.annotated();
  }

  /** After a rebuild of the history: publishes the differences. */
  async catchUp(): Promise<void> {
    this.known = null;
    if (!this.closed && this.row()) await this.publish();
  }

  /** Checks whether its trainer is running, after reading the journal or when it may have ended. */
  async checkAlive(): Promise<void> {
    const row = this.row();
    if (!row || this.closed) return;
    const open = isLive(row.status);
    const alive = open && (await this.parts.liveness.isRunning(row));
    if (!this.closed) this.setAlive(alive);
  }

  /** Whether there is a trainer to check. */
  get hasTrainer(): boolean {
    return this.living || this.stalled;
  }

  /** Checks every second whether the trainer has ended or hangs. */
  async lookAtTrainer(): Promise<void> {
    const row = this.row();
    if (!row) return;
    if (this.living && row.pid !== null && isLocal(row) && !processExists(row.pid)) {
      await this.refresh();
      await this.checkAlive();
    }
    this.lookForStall();
  }

  /** Publishes a changed queue position. */
  lookAtQueue(position: number | null): void {
    if (position === this.position) return;
    this.position = position;
    this.changed(true);
  }

  /** Invalidates and publishes the summary. */
  changed(immediate = false): void {
    this.known = null;
    if (!this.closed) this.throttle.publish({ immediate });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.watch?.close();
    this.throttle.close();
    this.trapThrottle.close();
    clearTimeout(this.waking);
    await this.refreshing?.catch(() => {});
    await this.tellingTrap;
  }

  private async ingest(): Promise<void> {
    let more = false;
    do {
      this.again = false;
      const taken = await this.parts.history.ingest(this.id);
      more = taken.more;
      if (this.closed) return;
      this.known = null;
      await this.publish();
      if (taken.annotated) this.annotated();
      if (taken.judged && !this.closed) this.trapThrottle.publish({ immediate: false });
      if (taken.problem !== null && taken.problem !== this.troubleTold)
        this.parts.log(`${this.id}: ${taken.problem}`);
      this.troubleTold = taken.problem;
    } while ((this.again || more) && !this.closed);
  }

  /** Waits while the history is ahead of the notices: those of its events come first, then the summary. */
  private publishSummary(): void {
    const row = this.row();
    const summary = row && row.last_seq <= this.published ? this.summaryIfThere() : null;
    if (summary) this.parts.notices.emit('run', summary);
  }

  private async tellTrap(): Promise<void> {
    this.changed(true);
    const { notices, trapOf } = this.parts;
    const echoTrap = await trapOf(this.id);
    if (!this.closed) notices.emit('echoTrap', { runId: this.id, echoTrap });
  }

  private annotated(): void {
    if (this.closed) return;
    this.tellAlerts();
    this.changed(true);
  }

  /** Publishes the alerts, and again when the next snooze ends. */
  private tellAlerts(): void {
    const alerts = readAlerts(this.parts.history.database, this.id);
    this.parts.notices.emit('alerts', { runId: this.id, alerts });
    this.planWaking(alerts);
  }

  private planWaking(alerts: readonly Alert[]): void {
    clearTimeout(this.waking);
    const now = Date.now();
    const ends = alerts.flatMap(({ state, snoozedUntil }) =>
      state === 'snoozed' && snoozedUntil !== null && snoozedUntil > now ? [snoozedUntil - now] : [],
    );
    if (ends.length > 0)
      this.waking = setTimeout(() => this.tellAlerts(), Math.min(longestTimer, ...ends)).unref();
  }

  private async publish(): Promise<void> {
    const { history, notices, watchdog, heard } = this.parts;
    const row = this.row();
    if (!row) return;
    if (row.last_seq < this.published) {
      // The journal was replaced by a shorter one, which invalidates all published state.
      this.published = -1;
      notices.emit('metrics', { runId: this.id, truncateAfter: -1, points: [] });
      this.changed(true);
    }
    const problem = journalProblem(row);
    if (problem && !this.problemTold) notices.emit('log', { runId: this.id, line: problem });
    this.problemTold = problem !== null;
    if (row.last_seq === this.published) return;
    watchdog.heard(this.id);
    let told = false;
    for (;;) {
      const events = eventsAfter(history.database, this.id, this.published, { limit: publishedAtOnce });
      if (events.length === 0) break;
      this.published = events.at(-1)!.seq;
      if (events.some(({ type }) => type === 'started')) this.setAlive(true);
      publishEvents(history.database, notices, this.id, events);
      heard(this.id, events);
      told = true;
      if (events.length === publishedAtOnce) await setImmediate();
      if (this.closed) return;
    }
    // The rest is the trainer's phase.
    this.published = Math.max(this.published, row.last_seq);
    this.changed(told);
  }

  private setAlive(alive: boolean): void {
    if (this.living !== alive) {
      this.living = alive;
      this.changed();
    }
    if (alive && !this.watch) {
      const look = () => void this.refresh().catch((error) => this.parts.log(String(error)));
      this.watch = new FolderWatch(runFolder(this.parts.home, this.id), look);
    } else if (!alive) {
      this.watch?.close();
      this.watch = null;
    }
  }

  private stallOf(row: RunRow): Stall | null {
    return this.living && row.status === 'running' ? this.parts.watchdog.stall(row) : null;
  }

  /** Publishes when a trainer starts to hang or recovers. */
  private lookForStall(): void {
    const row = this.row();
    if (!row) return;
    const stalled = this.stallOf(row);
    if (this.stalled === (stalled !== null)) return;
    this.stalled = stalled !== null;
    if (stalled) this.parts.log(`${this.id}: ${stalled.message} ${stalled.hint}`);
    this.changed(true);
  }
}
