import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RebuildReport, RunSummary, Stall } from '../contract/contract.ts';
import { asDiskFull } from '../contract/failure.ts';
import { readAlerts, takeAnnotations } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { folderIdentity, isSameJournal } from '../history/identity.ts';
import { ingestAll } from '../history/ingest.ts';
import { eventsAfter, journalProblem, type StoredEvent } from '../history/queries.ts';
import { rebuildHistory, runsOnDisk, syncHistory } from '../history/rebuild.ts';
import { addRun, getRun, listRuns, type RunRow, removeRun } from '../history/runs-table.ts';
import type { Notices } from '../notices.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { FolderWatch } from './folder-watch.ts';
import { isLocal, processExists } from './liveness.ts';
import { publishEvents } from './publish.ts';
import type { QueueFile } from './queue-file.ts';
import { toSummary } from './summary.ts';
import type { Watchdog } from './watchdog.ts';

const pollInterval = 1000;
/** Least time between two notices about nothing but a run's phase. */
const summaryInterval = 250;

/** What is known of a run beside its row. */
interface Followed {
  /** Last `seq` that clients were told of. */
  published: number;
  alive: boolean;
  /** Whether clients know that something is wrong with the journal. */
  problemTold: boolean;
  watch: FolderWatch | null;
  refreshing: Promise<void> | null;
  again: boolean;
  toldAt: number;
  tellTimer: NodeJS.Timeout | null;
  /** What clients know of its place in the queue, and whether it hangs. */
  position: number | null;
  stalled: boolean;
  folder: string;
}

export interface SupervisorParts {
  database: HistoryDatabase;
  home: string;
  trainer: Trainer;
  notices: Notices;
  queue: QueueFile;
  watchdog: Watchdog;
  log: (message: string) => void;
}

type EventsHandler = (runId: string, events: readonly StoredEvent[]) => void;

/**
 * Follows every run directory of a data folder into the history and tells clients what changes. What it tells comes from the history, not from
 * the file, so that clients never know more than what an answer to them would say.
 */
export class Supervisor {
  private readonly parts: SupervisorParts;
  private readonly followed = new Map<string, Followed>();
  private readonly handlers = new Set<EventsHandler>();
  /** What was logged last about each thing. */
  private readonly problems = new Map<string, string>();
  private poll: NodeJS.Timeout | null = null;
  private polling: Promise<void> | null = null;
  private closed = false;

  constructor(parts: SupervisorParts) {
    this.parts = parts;
  }

  /** Takes in what happened while nobody looked, finds living trainers, and begins to follow. */
  async start(): Promise<void> {
    const { database, home } = this.parts;
    await syncHistory(database, home, (runId, error) => this.problem(`Following ${runId}`, error));
    await Promise.all(listRuns(database).map((row) => this.attach(row)));
    this.poll = setInterval(() => {
      this.polling ??= this.look().finally(() => {
        this.polling = null;
      });
    }, pollInterval);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.poll) clearInterval(this.poll);
    await this.polling;
    for (const run of this.followed.values()) {
      await run.refreshing;
      letGo(run);
    }
  }

  summary(row: RunRow): RunSummary {
    const { database, queue } = this.parts;
    return toSummary(database, row, {
      alive: this.isAlive(row),
      queuePosition: queue.position(row.id),
      stalled: this.stallOf(row, this.followed.get(row.id)),
    });
  }

  private stallOf(row: RunRow, run: Followed | undefined): Stall | null {
    return run?.alive && row.status === 'running' ? this.parts.watchdog.stall(row) : null;
  }

  /** Whether a trainer is at work on a run, or paused. */
  isActive(row: RunRow): boolean {
    const open = row.status === 'running' || row.status === 'paused';
    // One that isn't followed yet was started by somebody else just now.
    return open && (!this.followed.has(row.id) || this.isAlive(row));
  }

  private isAlive(row: RunRow): boolean {
    const run = this.followed.get(row.id);
    // Events that haven't been looked at yet may be those of a trainer that has just started.
    return run !== undefined && (run.alive || row.last_seq > run.published);
  }

  /** The queue may have changed: tells of every run that has another place in it. */
  lookAtQueue(): void {
    for (const [runId, run] of this.followed) {
      const position = this.parts.queue.position(runId);
      if (position === run.position) continue;
      run.position = position;
      this.tell(runId, true);
    }
  }

  /** Takes in what was said of a run, and tells of it. */
  lookAtAnnotations(runId: string): void {
    const { database, home, notices } = this.parts;
    if (this.closed || !takeAnnotations(database, runId, runFolder(home, runId))) return;
    notices.emit('alerts', { runId, alerts: readAlerts(database, runId) });
    this.tell(runId, true);
  }

  /** Hears the events of all runs as they come in. */
  onEvents(handler: EventsHandler): () => void {
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  /** Begins to follow a run directory that has just been made or found. */
  async add(runId: string): Promise<void> {
    const { database, home } = this.parts;
    if (!addRun(database, runId, runFolder(home, runId))) return;
    const row = getRun(database, runId);
    if (row && !this.followed.has(runId)) await this.attach({ ...row, last_seq: -1 });
    await this.refresh(runId);
    await this.checkAlive(runId);
    this.tell(runId);
  }

  /** A directory that was copied here names a trainer that isn't its own, or is long gone: the lock tells. */
  private async checkAlive(runId: string): Promise<void> {
    const run = this.followed.get(runId);
    const row = getRun(this.parts.database, runId);
    if (run?.alive && row && !(await this.isRunning(row))) this.setAlive(runId, run, false);
  }

  /** Takes in what is new in a run's journal, and tells of it. A call during another makes that one look once more. */
  refresh(runId: string): Promise<void> {
    const run = this.followed.get(runId);
    if (!run || this.closed) return Promise.resolve();
    if (run.refreshing) run.again = true;
    run.refreshing ??= this.takeIn(runId, run).finally(() => {
      run.refreshing = null;
    });
    return run.refreshing;
  }

  /** Makes the history again from the run directories, and tells of runs whose directory is gone. */
  async rebuild(): Promise<RebuildReport> {
    const report = await rebuildHistory(this.parts.database, this.parts.home);
    for (const runId of [...this.followed.keys()]) {
      if (!getRun(this.parts.database, runId)) this.forget(runId);
    }
    return report;
  }

  /** A trainer of this process has ended: what its journal doesn't say is that it was interrupted. */
  async trainerEnded(runId: string): Promise<void> {
    await this.refresh(runId);
    if (this.closed) return;
    const run = this.followed.get(runId);
    const row = getRun(this.parts.database, runId);
    if (run && row && !this.closed && !(await this.isRunning(row))) this.setAlive(runId, run, false);
  }

  private async attach(row: RunRow): Promise<void> {
    const run: Followed = {
      published: row.last_seq,
      alive: false,
      problemTold: row.journal_problem !== null,
      watch: null,
      refreshing: null,
      again: false,
      toldAt: 0,
      tellTimer: null,
      position: this.parts.queue.position(row.id),
      stalled: false,
      folder: folderIdentity(runFolder(this.parts.home, row.id)),
    };
    this.followed.set(row.id, run);
    this.parts.watchdog.begin(row);
    if (row.status === 'running' || row.status === 'paused')
      this.setAlive(row.id, run, await this.isRunning(row));
  }

  private async isRunning(row: RunRow): Promise<boolean> {
    try {
      return (await this.parts.trainer.status(runFolder(this.parts.home, row.id))).running;
    } catch {
      return row.pid !== null && isLocal(row) && processExists(row.pid);
    }
  }

  private async takeIn(runId: string, run: Followed): Promise<void> {
    const { database, home } = this.parts;
    do {
      run.again = false;
      try {
        await ingestAll(database, runId, join(runFolder(home, runId), runFiles.journal));
        this.publish(runId, run);
        this.lookAtAnnotations(runId);
      } catch (error) {
        this.problem(`Following ${runId}`, error);
      }
    } while (run.again && !this.closed);
  }

  private publish(runId: string, run: Followed): void {
    const row = getRun(this.parts.database, runId);
    if (row && row.last_seq < run.published) {
      // The journal was replaced by a shorter one: nothing that clients were told holds.
      run.published = -1;
      this.parts.notices.emit('metrics', { runId, truncateAfter: -1, points: [] });
      this.tell(runId, true);
    }
    const problem = row ? journalProblem(row) : null;
    if (problem && !run.problemTold) this.parts.notices.emit('log', { runId, line: problem });
    run.problemTold = problem !== null;
    for (;;) {
      const events = eventsAfter(this.parts.database, runId, run.published);
      if (events.length === 0) return;
      run.published = events.at(-1)!.seq;
      this.parts.watchdog.heard(runId);
      if (events.some((event) => event.type === 'started')) this.setAlive(runId, run, true);
      publishEvents(this.parts.notices, runId, events);
      for (const handler of [...this.handlers]) handler(runId, events);
      this.tell(
        runId,
        events.some((event) => event.type !== 'phase'),
      );
    }
  }

  private setAlive(runId: string, run: Followed, alive: boolean): void {
    if (run.alive !== alive) {
      run.alive = alive;
      this.tell(runId);
    }
    if (alive && !run.watch) {
      run.watch = new FolderWatch(runFolder(this.parts.home, runId), () => void this.refresh(runId));
    } else if (!alive) {
      run.watch?.close();
      run.watch = null;
    }
  }

  /** Looks at every run directory: new ones, grown journals, trainers that are gone. */
  private async look(): Promise<void> {
    const { database, home } = this.parts;
    try {
      for (const runId of runsOnDisk(home)) if (!this.followed.has(runId)) await this.add(runId);
      for (const row of listRuns(database)) {
        if (this.closed) return;
        const run = this.followed.get(row.id);
        if (run) await this.lookAt(row, run);
      }
      this.lookAtQueue();
    } catch (error) {
      this.problem('Looking at the data folder', error);
    }
  }

  private async lookAt(row: RunRow, run: Followed): Promise<void> {
    const { database, home } = this.parts;
    try {
      if (!existsSync(join(runFolder(home, row.id), runFiles.config)) || this.isReplaced(row.id, run)) {
        removeRun(database, row.id);
        this.forget(row.id);
        return;
      }
      if (row.last_seq !== run.published || journalSize(home, row.id) !== row.journal_offset)
        await this.refresh(row.id);
      else this.lookAtAnnotations(row.id);
      if (run.alive && row.pid !== null && isLocal(row) && !processExists(row.pid))
        await this.trainerEnded(row.id);
      this.watch(row.id, run);
    } catch (error) {
      this.problem(`Following ${row.id}`, error);
    }
  }

  /** Whether another run's directory has come under the name of this one. */
  private isReplaced(runId: string, run: Followed): boolean {
    const folder = runFolder(this.parts.home, runId);
    const identity = folderIdentity(folder);
    if (identity === run.folder) return false;
    run.folder = identity;
    return !isSameJournal(this.parts.database, runId, join(folder, runFiles.journal));
  }

  /** Tells when a trainer begins to hang, and when it goes on. */
  private watch(runId: string, run: Followed): void {
    if (!run.alive && !run.stalled) return;
    const row = getRun(this.parts.database, runId);
    if (!row) return;
    const stalled = this.stallOf(row, run);
    if (run.stalled === (stalled !== null)) return;
    run.stalled = stalled !== null;
    if (stalled) this.parts.log(`${runId}: ${stalled.message} ${stalled.hint}`);
    this.tell(runId, true);
  }

  /** A run's directory is gone, or another's has come in its place. */
  private forget(runId: string): void {
    const run = this.followed.get(runId);
    if (!run) return;
    letGo(run);
    this.followed.delete(runId);
    this.parts.watchdog.forget(runId);
    this.parts.notices.emit('removed', { runId });
  }

  /** Tells clients a run's summary: at once, or together with what else changes until {@link summaryInterval} has passed. */
  private tell(runId: string, atOnce = false): void {
    const run = this.followed.get(runId);
    if (!run || this.closed) return;
    const emit = () => {
      if (run.tellTimer) clearTimeout(run.tellTimer);
      run.tellTimer = null;
      run.toldAt = Date.now();
      const row = getRun(this.parts.database, runId);
      if (row) this.parts.notices.emit('run', this.summary(row));
    };
    if (atOnce) emit();
    else run.tellTimer ??= setTimeout(emit, Math.max(0, run.toldAt + summaryInterval - Date.now()));
  }

  private problem(what: string, error: unknown): void {
    const full = asDiskFull(error);
    const message = error instanceof Error ? error.message : String(error);
    const text = full ? `${what}: ${full.message}. ${full.hint}` : `${what}: ${message}`;
    // What is tried again every second is said once.
    if (this.problems.get(what) !== text) this.parts.log(text);
    this.problems.set(what, text);
  }
}

function letGo(run: Followed): void {
  run.watch?.close();
  if (run.tellTimer) clearTimeout(run.tellTimer);
}

function journalSize(home: string, runId: string): number {
  return statSync(join(runFolder(home, runId), runFiles.journal), { throwIfNoEntry: false })?.size ?? 0;
}
