import type { Notices } from '../base/notices.ts';
import type { ApiError, RunSummary } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { isLive, mayShareDevice } from '../contract/run-facts.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { lastMachine, lastStart } from '../history/queries.ts';
import { getRun, listRuns } from '../history/runs-table.ts';
import { isLocal } from '../run-sync/liveness.ts';
import type { QueueEntry, QueueFile } from '../run-sync/queue-file.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Annotations } from '../runs/annotations.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';

const interval = 1000;
/** Retry delay in ms after a problem with the machine. */
const retryAfter = 30_000;
const machineCodes = ['trainer_missing', 'trainer_unusable', 'disk_full'];

export interface QueueParts {
  database: HistoryDatabase;
  file: QueueFile;
  runs: Runs;
  supervisor: Supervisor;
  trainer: Trainer;
  annotations: Annotations;
  notices: Notices;
  log: (message: string) => void;
}

/** Queued runs. After `work`, they are started one at a time per device. */
export class Queue {
  private readonly parts: QueueParts;
  private timer: NodeJS.Timeout | null = null;
  private stopNotices = () => {};
  private readonly stopHearing: () => void;
  private advancing: Promise<void> | null = null;
  private again = false;
  private notBefore = 0;
  private trouble: ApiError | null = null;
  /** Reservations during which no queued run is started. */
  private held = 0;
  private closed = false;

  constructor(parts: QueueParts) {
    this.parts = parts;
    this.stopHearing = parts.notices.on((name, payload) => {
      if (name === 'run' && isLive((payload as RunSummary).status)) this.leave((payload as RunSummary).id);
    });
  }

  /** Ids of queued runs, next first. */
  list(): string[] {
    return this.parts.file.read().map((entry) => entry.run);
  }

  /** Whether queued runs are started. */
  get working(): boolean {
    return this.timer !== null;
  }

  /** What blocks the queue; null if nothing does. */
  problem(): ApiError | null {
    return this.list().length === 0 ? null : this.trouble;
  }

  /** Adds a run and returns its position. Throws `run_unknown`, `run_completed`, `run_active`, or `config_version_unsupported` for a run of a newer version. */
  add(runId: string): number {
    const { status } = this.parts.runs.get(runId);
    if (status === 'completed')
      throw new Failure(
        'run_completed',
        `Run ${runId} has completed.`,
        'Extend it, or create a new run from its preset.',
      );
    if (isLive(status))
      throw new Failure('run_active', `Run ${runId} is already running.`, 'Queue another run.');
    this.parts.runs.refuseNewer(runId);
    const position = this.change((entries) => {
      const added = Date.now();
      const entry = entries.find((each) => each.run === runId);
      if (!entry) entries.push({ run: runId, added });
      // It was started by hand since it was added, and has ended: asked for again, it is to be started again.
      else if (!this.waits(entry)) entry.added = added;
      return entries.findIndex((each) => each.run === runId) + 1;
    });
    if (this.working) this.advance();
    return position;
  }

  /** Throws `run_unknown` or `run_not_queued`. */
  remove(runId: string): void {
    this.parts.runs.get(runId);
    this.change((entries) => entries.splice(placeOf(entries, runId), 1));
  }

  /** Moves a run and returns its position, from 1. Throws `run_unknown` or `run_not_queued`. */
  move(runId: string, position: number): number {
    this.parts.runs.get(runId);
    return this.change((entries) => {
      const [entry] = entries.splice(placeOf(entries, runId), 1);
      entries.splice(Math.min(position - 1, entries.length), 0, entry!);
      return entries.indexOf(entry!) + 1;
    });
  }

  /** Starts queued runs whenever their device is free. */
  work(): void {
    if (this.working || this.closed) return;
    this.timer = setInterval(() => this.advance(), interval);
    this.stopNotices = this.parts.notices.on((name, payload) => {
      if (name === 'run' && (payload as RunSummary).status !== 'running') this.advance();
    });
    this.advance();
  }

  /** Settles when no run is just being started: what has left the queue by now has begun, or never will. */
  async settled(): Promise<void> {
    await this.advancing;
  }

  /** Does some work that needs a device from one run to the next: what waits isn't started on it in between. */
  async whileHeld<T>(work: () => Promise<T>): Promise<T> {
    this.held += 1;
    try {
      await this.advancing;
      return await work();
    } finally {
      this.held -= 1;
      if (this.working) this.advance();
    }
  }

  /** Starts nothing more until it is asked to `work` again; settles when what it was just starting has begun. */
  async rest(): Promise<void> {
    this.pause();
    await this.advancing;
  }

  /** Stops; a start in progress is left to its trainer. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.stopHearing();
    this.pause();
  }

  private pause(): void {
    this.stopNotices();
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private change<T>(change: (entries: QueueEntry[]) => T): T {
    const result = this.parts.file.update(change);
    this.parts.supervisor.lookAtQueue();
    return result;
  }

  private advance(): void {
    if (this.closed || this.held > 0 || Date.now() < this.notBefore) return;
    if (this.advancing) {
      this.again = true;
      return;
    }
    // Deferred, because the first change is published to clients, including this queue, which would otherwise start a second pass.
    this.advancing = Promise.resolve()
      .then(() => this.startWhatCan())
      .catch((error: unknown) => this.hold(error))
      .finally(() => {
        const { again } = this;
        this.advancing = null;
        this.again = false;
        if (again && this.working) this.advance();
      });
  }

  /** Reports a problem of the machine and retries later. */
  private hold(error: unknown): void {
    if (this.closed) return;
    const trouble = asFailure(error).toApiError();
    this.notBefore = Date.now() + retryAfter;
    this.parts.log(`The queue waits: ${trouble.message}`);
    this.setTrouble(trouble);
  }

  private setTrouble(trouble: ApiError | null): void {
    if (trouble?.message === this.trouble?.message) return;
    this.trouble = trouble;
    this.parts.notices.emit('queue', { problem: trouble });
  }

  private async startWhatCan(): Promise<void> {
    if (this.list().length === 0) return;
    for (let next = this.next(); next !== null && !this.closed; next = this.next()) {
      await this.start(next);
      if (!this.working || this.held > 0 || Date.now() < this.notBefore) return;
    }
  }

  /** Returns the first run whose device is free; drops started and deleted runs. */
  private next(): string | null {
    const { database, runs, supervisor } = this.parts;
    return this.change((entries) => {
      const waiting = entries.filter((entry) => this.waits(entry));
      entries.splice(0, entries.length, ...waiting);
      const busy = listRuns(database)
        .filter(
          (row) =>
            (supervisor.isActive(row) && (row.host === null || isLocal(row))) || runs.isLoading(row.id),
        )
        .map(({ id, device }) => lastMachine(database, id)?.device ?? device);
      const isFree = (device: string) => !busy.some((taken) => mayShareDevice(device, taken));
      return entries.find(({ run }) => isFree(getRun(database, run)!.device))?.run ?? null;
    });
  }

  /** Whether an entry still has to be started. */
  private waits({ run, added }: QueueEntry): boolean {
    const { database } = this.parts;
    const row = getRun(database, run);
    return row !== undefined && row.status !== 'completed' && (lastStart(database, run) ?? 0) < added;
  }

  private async start(runId: string): Promise<void> {
    const { database, runs, annotations } = this.parts;
    try {
      const before = lastStart(database, runId);
      const own = await runs.start(runId).then(
        () => true,
        (error) => {
          // A core that is gone may have started its trainer already, or the one before is just ending.
          if (asFailure(error).code !== 'run_active') throw error;
          return false;
        },
      );
      const begun = await this.untilBegun(runId, before);
      this.setTrouble(null);
      // Where it was one that ended, the run is still to be started.
      if (own || begun) this.drop(runId);
    } catch (error) {
      if (this.closed) return;
      const failure = asFailure(error).toApiError();
      try {
        if (machineCodes.includes(failure.code)) throw error;
        // In this order: a core that dies in between tries once more rather than losing the run without a word.
        if (failure.code !== 'run_completed')
          await annotations.add(runId, { type: 'start_failed', ...failure });
        this.drop(runId);
      } catch (problem) {
        this.hold(problem);
      }
    }
  }

  /** Waits for a model that loads longer than `start` waits, because its device is still busy. Returns whether the trainer started or the queue was closed. */
  private async untilBegun(runId: string, before: number | null): Promise<boolean> {
    const { database, runs, supervisor, trainer } = this.parts;
    const begun = () => this.closed || lastStart(database, runId) !== before;
    while (!begun() && (await trainer.status(runs.folder(runId))).running) {
      await new Promise((resolve) => setTimeout(resolve, interval));
      await supervisor.refresh(runId);
    }
    return begun();
  }

  /** Removes runs that were started since they were added, even if no host works on the queue. */
  private leave(runId: string): void {
    const entry = this.parts.file.read().find(({ run }) => run === runId);
    if (entry && !this.waits(entry)) this.drop(runId);
  }

  private drop(runId: string): void {
    if (this.closed) return;
    this.change((entries) => {
      const index = entries.findIndex((entry) => entry.run === runId);
      if (index >= 0) entries.splice(index, 1);
    });
  }
}

function placeOf(entries: readonly QueueEntry[], runId: string): number {
  const index = entries.findIndex((entry) => entry.run === runId);
  if (index >= 0) return index;
  throw new Failure(
    'run_not_queued',
    `Run ${runId} is not in the queue.`,
    'List queued runs with `starpo queue` or on the Start page.',
  );
}
