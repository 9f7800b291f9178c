import { Coalescer } from '../base/coalescer.ts';
import type { Notices } from '../base/notices.ts';
import type { ApiError } from '../contract/contract.ts';
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

interface QueueParts {
  database: HistoryDatabase;
  queueFile: QueueFile;
  runs: Runs;
  supervisor: Supervisor;
  trainer: Trainer;
  annotations: Annotations;
  notices: Notices;
  log: (message: string) => void;
}

/** The run queue. Once `work()` has been called, it starts queued runs, one at a time per device. */
export class Queue {
  private readonly parts: QueueParts;
  private readonly passes = new Coalescer(() => this.startReadyRuns());
  private readonly stopEvents: () => void;
  private timer: NodeJS.Timeout | null = null;
  private notBefore = 0;
  private blockedBy: ApiError | null = null;
  /** Number of callers in `whileHeld`. No queued run is started while there are any. */
  private holders = 0;
  private closed = false;

  constructor(parts: QueueParts) {
    this.parts = parts;
    this.stopEvents = parts.supervisor.events.on('summary', ({ id, status }) => {
      if (isLive(status)) this.removeStarted(id);
      if (status !== 'running') this.advance();
    });
  }

  /** Returns the ids of queued runs, next first. */
  list(): string[] {
    return this.parts.queueFile.read().map((entry) => entry.run);
  }

  /** Whether queued runs are started. */
  get working(): boolean {
    return this.timer !== null;
  }

  /** Returns what blocks the queue; null if nothing does. */
  problem(): ApiError | null {
    return this.list().length === 0 ? null : this.blockedBy;
  }

  /** Adds a run and returns its position. Throws `run_active`, or an error of {@link Runs.requireStartable}. */
  add(runId: string): number {
    if (isLive(this.parts.runs.get(runId).status))
      throw new Failure('run_active', `Run ${runId} is already running.`, 'Queue another run.');
    this.parts.runs.requireStartable(runId);
    const position = this.change((entries) => {
      const added = Date.now();
      const entry = entries.find((each) => each.run === runId);
      if (!entry) entries.push({ run: runId, added });
      // The entry is outdated: the run was started manually since and has ended.
      else if (!this.isPending(entry)) entry.added = added;
      return entries.findIndex((each) => each.run === runId) + 1;
    });
    this.advance();
    return position;
  }

  /** Throws `run_unknown` or `run_not_queued`. */
  remove(runId: string): void {
    this.parts.runs.require(runId);
    this.change((entries) => entries.splice(indexOf(entries, runId), 1));
  }

  /** Moves a run and returns its position, from 1. Throws `run_unknown` or `run_not_queued`. */
  move(runId: string, position: number): number {
    this.parts.runs.require(runId);
    return this.change((entries) => {
      const [entry] = entries.splice(indexOf(entries, runId), 1);
      entries.splice(Math.min(position - 1, entries.length), 0, entry!);
      return entries.indexOf(entry!) + 1;
    });
  }

  /** Starts queued runs whenever their device is free. */
  work(): void {
    if (this.working || this.closed) return;
    this.timer = setInterval(() => this.advance(), interval);
    this.advance();
  }

  /** Resolves when no run is being started. */
  async settled(): Promise<void> {
    await this.passes.settled();
  }

  /** Runs work during which no queued run is started, such as moving a device from one run to another. */
  async whileHeld<T>(work: () => Promise<T>): Promise<T> {
    this.holders += 1;
    try {
      await this.settled();
      return await work();
    } finally {
      this.holders -= 1;
      this.advance();
    }
  }

  /** Stops starting runs until the next `work`. Resolves when a start in progress has finished. */
  async pause(): Promise<void> {
    this.stopTimer();
    await this.settled();
  }

  /** A start in progress continues in its trainer. */
  close(): void {
    this.closed = true;
    this.stopEvents();
    this.stopTimer();
  }

  private stopTimer(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private change<T>(change: (entries: QueueEntry[]) => T): T {
    const result = this.parts.queueFile.update(change);
    this.parts.supervisor.publishQueue();
    return result;
  }

  private advance(): void {
    if (this.mayStart) void this.passes.request();
  }

  private get mayStart(): boolean {
    return this.working && !this.closed && this.holders === 0 && Date.now() >= this.notBefore;
  }

  /** Starts queued runs until none has a free device. */
  private async startReadyRuns(): Promise<void> {
    try {
      while (this.mayStart && this.list().length > 0) {
        const runId = this.next();
        if (runId === null) return;
        await this.start(runId);
      }
    } catch (error) {
      this.postpone(error);
    }
  }

  /** Reports a problem of the machine and retries later. */
  private postpone(error: unknown): void {
    if (this.closed) return;
    const problem = asFailure(error).toApiError();
    this.notBefore = Date.now() + retryAfter;
    this.parts.log(`The queue waits: ${problem.message}`);
    this.setBlockedBy(problem);
  }

  private setBlockedBy(problem: ApiError | null): void {
    if (problem?.message === this.blockedBy?.message) return;
    this.blockedBy = problem;
    this.parts.notices.emit('queue', { problem });
  }

  /** Returns the first run whose device is free; drops started and deleted runs. */
  private next(): string | null {
    const { database, runs, supervisor } = this.parts;
    return this.change((entries) => {
      const pending = entries.filter((entry) => this.isPending(entry));
      entries.splice(0, entries.length, ...pending);
      const busyDevices = listRuns(database)
        .filter((row) => (supervisor.isActive(row) && (row.host === null || isLocal(row))) || runs.isLoading(row.id))
        .map(({ id, device }) => lastMachine(database, id)?.device ?? device);
      const isFree = (device: string) => !busyDevices.some((busy) => mayShareDevice(device, busy));
      return entries.find(({ run }) => isFree(getRun(database, run)!.device))?.run ?? null;
    });
  }

  /** Returns whether an entry still has to be started. */
  private isPending({ run, added }: QueueEntry): boolean {
    const { database } = this.parts;
    const row = getRun(database, run);
    return row !== undefined && row.status !== 'completed' && (lastStart(database, run) ?? 0) < added;
  }

  private async start(runId: string): Promise<void> {
    const { database, runs, annotations } = this.parts;
    try {
      const before = lastStart(database, runId);
      const startedHere = await runs.start(runId).then(
        () => true,
        (error) => {
          // An earlier process may have started the trainer, or the run's previous trainer is just ending.
          if (asFailure(error).code !== 'run_active') throw error;
          return false;
        },
      );
      const started = await this.untilStarted(runId, before);
      this.setBlockedBy(null);
      // Otherwise the previous trainer exited, and the run must still be started.
      if (startedHere || started) this.drop(runId);
    } catch (error) {
      if (this.closed) return;
      const failure = asFailure(error).toApiError();
      if (machineCodes.includes(failure.code)) throw error;
      // The annotation comes first: if this process exits in between, the run is started again instead of silently lost.
      if (failure.code !== 'run_completed') await annotations.add(runId, { type: 'start_failed', ...failure });
      this.drop(runId);
    }
  }

  /** Waits for a model that loads longer than `start` waits, because its device is still busy. Returns whether the trainer started or the queue was closed. */
  private async untilStarted(runId: string, before: number | null): Promise<boolean> {
    const { database, runs, supervisor, trainer } = this.parts;
    const started = () => this.closed || lastStart(database, runId) !== before;
    while (!started() && (await trainer.status(runs.folder(runId))).running) {
      await new Promise((resolve) => setTimeout(resolve, interval));
      await supervisor.refresh(runId);
    }
    return started();
  }

  /** Removes a run that was started since it was added, even if no host works on the queue. */
  private removeStarted(runId: string): void {
    const entry = this.parts.queueFile.read().find(({ run }) => run === runId);
    if (entry && !this.isPending(entry)) this.drop(runId);
  }

  private drop(runId: string): void {
    if (this.closed) return;
    this.change((entries) => {
      const index = entries.findIndex((entry) => entry.run === runId);
      if (index >= 0) entries.splice(index, 1);
    });
  }
}

function indexOf(entries: readonly QueueEntry[], runId: string): number {
  const index = entries.findIndex((entry) => entry.run === runId);
  if (index >= 0) return index;
  throw new Failure(
    'run_not_queued',
    `Run ${runId} is not in the queue.`,
    'List queued runs with `starpo queue` or on the Start page.',
  );
}
