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
import { publishEvents, Teller } from './publish.ts';
import type { QueueFile } from './queue-file.ts';
import type { StudyFiles } from './study-files.ts';
import { toSummary } from './summary.ts';
import type { Watchdog } from './watchdog.ts';

/** Events that clients are told of before other work has its turn. */
const publishedAtOnce = 100;
/** Timers can't be longer by far. */
const longestTimer = 86_400_000;

export interface FollowParts {
  history: History;
  home: string;
  notices: Notices;
  queue: QueueFile;
  studies: StudyFiles;
  watchdog: Watchdog;
  liveness: Liveness;
  /** Hears the events of all runs as they are published. */
  heard: (runId: string, events: readonly StoredEvent[]) => void;
  /** What the Echo Trap's monitor says of a run. */
  trapOf: (runId: string) => Promise<EchoTrap | null>;
  log: (message: string) => void;
}

/**
 * One run that core follows: what is new in its directory goes into the history, and clients are told of it. What they are told comes from the history,
 * not from the file, so that they never know more than what an answer to them would say.
 */
export class FollowedRun {
  readonly id: string;
  private readonly parts: FollowParts;
  private readonly teller: Teller;
  private readonly trapTeller: Teller;
  /** Last `seq` that clients were told of. */
  private published: number;
  private living = false;
  /** Whether clients know that something is wrong with the journal. */
  private problemTold: boolean;
  /** What of it was logged last. */
  private troubleTold: string | null = null;
  private watch: FolderWatch | null = null;
  private refreshing: Promise<void> | null = null;
  private again = false;
  /** The newest telling of what the monitor says: it reads the history, which must be there until it is done. */
  private tellingTrap = Promise.resolve();
  /** What clients know of its place in the queue, and whether it hangs. */
  private position: number | null;
  private stalled = false;
  /** The present one, until something changes. */
  private known: RunSummary | null = null;
  /** Until the next snooze of an alert ends. */
  private waking: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(parts: FollowParts, row: RunRow) {
    this.id = row.id;
    this.parts = parts;
    this.published = row.last_seq;
    this.problemTold = row.journal_problem !== null;
    this.position = parts.queue.position(row.id);
    this.teller = new Teller(() => this.tellSummary());
    this.trapTeller = new Teller(() => {
      this.tellingTrap = this.tellTrap().catch((error) => parts.log(String(error)));
    });
    parts.watchdog.begin(row);
    if (row.annotations_bytes > 0) this.planWaking(readAlerts(parts.history.database, row.id));
  }

  row(): RunRow | undefined {
    return getRun(this.parts.history.database, this.id);
  }

  /** Null where the run is gone. */
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

  /** Whether its trainer lives, as far as is known. */
  isAlive(row: RunRow): boolean {
    // Events that haven't been looked at yet may be those of a trainer that has just started.
    return this.living || row.last_seq > this.published;
  }

  /** Takes in what is new, and tells of it. A call during another makes that one look once more. Throws what reading the files or writing the history does. */
  refresh(): Promise<void> {
    if (this.closed) return Promise.resolve();
    if (this.refreshing) this.again = true;
    this.refreshing ??= this.takeIn().finally(() => {
      this.refreshing = null;
    });
    return this.refreshing;
  }

  /** Takes in what was said of the run, and tells of it. */
  async lookAtAnnotations(): Promise<void> {
    if (await this.parts.history.takeAnnotations(this.id)) this.annotated();
  }

  /** The history was made again: tells what differs from what clients know. */
  async catchUp(): Promise<void> {
    this.known = null;
    if (!this.closed && this.row()) await this.publish();
  }

  /** Finds out whether its trainer lives: after its journal was read, or when that may have ended. */
  async checkAlive(): Promise<void> {
    const row = this.row();
    if (!row || this.closed) return;
    const open = isLive(row.status);
    const alive = open && (await this.parts.liveness.isRunning(row));
    if (!this.closed) this.setAlive(alive);
  }

  /** Whether there is a trainer to look at. */
  get hasTrainer(): boolean {
    return this.living || this.stalled;
  }

  /** The second's look at a run that has a trainer: whether it is gone, or hangs. */
  async lookAtTrainer(): Promise<void> {
    const row = this.row();
    if (!row) return;
    if (this.living && row.pid !== null && isLocal(row) && !processExists(row.pid)) {
      await this.refresh();
      await this.checkAlive();
    }
    this.lookForStall();
  }

  /** Tells of another place in the queue. */
  lookAtQueue(position: number | null): void {
    if (position === this.position) return;
    this.position = position;
    this.changed(true);
  }

  /** Something that the summary says has changed. */
  changed(atOnce = false): void {
    this.known = null;
    if (!this.closed) this.teller.tell(atOnce);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.watch?.close();
    this.teller.close();
    this.trapTeller.close();
    clearTimeout(this.waking);
    await this.refreshing?.catch(() => {});
    await this.tellingTrap;
  }

  private async takeIn(): Promise<void> {
    let more = false;
    do {
      this.again = false;
      const taken = await this.parts.history.takeIn(this.id);
      more = taken.more;
      if (this.closed) return;
      this.known = null;
      await this.publish();
      if (taken.annotated) this.annotated();
      if (taken.judged && !this.closed) this.trapTeller.tell(false);
      if (taken.problem !== null && taken.problem !== this.troubleTold)
        this.parts.log(`${this.id}: ${taken.problem}`);
      this.troubleTold = taken.problem;
    } while ((this.again || more) && !this.closed);
  }

  /** Not while the history is ahead of what clients were told: the notices of those events come first, and a summary right after them. */
  private tellSummary(): void {
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

  /** Tells of the alerts, and again when the next snooze ends. */
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
      // The journal was replaced by a shorter one: nothing that clients were told holds.
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
    // What is left is where the trainer is.
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

  /** Tells when a trainer begins to hang, and when it goes on. */
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
