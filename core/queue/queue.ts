import { Coalescer } from '../base/coalescer.ts';
import type { Notices } from '../base/notices.ts';
import { jobActive } from '../cluster/cluster.ts';
import type { ApiError } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { lastStart } from '../history/queries.ts';
import { getRun } from '../history/runs-table.ts';
import type { QueueContent, QueueEntry, QueueFile } from '../run-sync/queue-file.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Annotations } from '../runs/annotations.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { afterDeviceFailure, isDeviceFailure } from './device-failure.ts';
import { DevicePool } from './device-pool.ts';
import { claim, indexOf, markStarted, release, take } from './entries.ts';
import type { PoolDevice } from './placement.ts';
import { Placer } from './placer.ts';

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

/** The run queue. Once `work()` has been called, it starts queued runs on every free device. */
export class Queue {
  readonly pool: DevicePool;
  private readonly parts: QueueParts;
  private readonly placer: Placer;
  private readonly passes = new Coalescer(() => this.startReadyRuns());
  /** Starts in progress, by run. */
  private readonly starting = new Map<string, Promise<void>>();
  private readonly stopEvents: () => void;
  private timer: NodeJS.Timeout | null = null;
  private notBefore = 0;
  private blockedBy: ApiError | null = null;
  private waits: ReadonlyMap<string, string> = new Map();
  /** Number of callers in `whileHeld`. No queued run is started while there are any. */
  private holders = 0;
  private closed = false;

  constructor(parts: QueueParts) {
    this.parts = parts;
    this.pool = new DevicePool(parts);
    this.placer = new Placer({ ...parts, pool: this.pool });
    this.stopEvents = parts.supervisor.events.on('summary', ({ id, status }) => {
      // A working queue drops ended runs in its next pass.
      if (isLive(status) || !this.working) this.removeStarted(id);
      if (!isLive(status)) this.settleEnded(id);
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

  /** Returns why queued runs wait, by run. */
  reasons(): Record<string, string> {
    return Object.fromEntries(this.waits);
  }

  /** Adds a run and returns its position. Throws `run_active`, `job_active`, or an error of {@link Runs.requireStartable}. */
  add(runId: string): number {
    if (isLive(this.parts.runs.get(runId).status))
      throw new Failure('run_active', `Run ${runId} is running or paused.`, 'Queue another run.');
    const { job } = this.parts.runs.get(runId);
    if (job && job.phase !== 'ended') throw jobActive(runId, job);
    this.parts.runs.requireStartable(runId);
    const position = this.change(({ runs }) => {
      const entry = runs.find((each) => each.run === runId);
      // An outdated entry: the run was started manually since and has ended.
      const fresh = { run: runId, added: Date.now() };
      if (!entry) runs.push(fresh);
      else if (!this.isPending(entry)) runs.splice(runs.indexOf(entry), 1, fresh);
      return indexOf(runs, runId) + 1;
    });
    this.advance();
    return position;
  }

  /** Throws `run_unknown` or `run_not_queued`. */
  remove(runId: string): void {
    this.parts.runs.require(runId);
    this.change(({ runs }) => runs.splice(indexOf(runs, runId), 1));
  }

  /** Moves a run and returns its position, from 1. Throws `run_unknown` or `run_not_queued`. */
  move(runId: string, position: number): number {
    this.parts.runs.require(runId);
    return this.change(({ runs }) => {
      const [entry] = runs.splice(indexOf(runs, runId), 1);
      runs.splice(Math.min(position - 1, runs.length), 0, entry!);
      return runs.indexOf(entry!) + 1;
    });
  }

  /** Starts a run now, on a free device if there is one. Throws as {@link Runs.start} does. */
  async startNow(runId: string, after?: number): Promise<void> {
    const device = await this.placer.freeGpu(runId, this.pending());
    await this.parts.runs.start(runId, device, after);
  }

  /** Returns a device that was set aside to the pool. Throws `device_not_set_aside`. */
  restoreDevice(name: string): void {
    this.pool.restore(name);
    this.setBlockedBy(null);
    this.advance();
  }

  setShare(share: boolean): void {
    this.pool.setShare(share);
    this.advance();
  }

  /** Starts queued runs whenever a device is free. */
  work(): void {
    if (this.working || this.closed) return;
    this.timer = setInterval(() => this.advance(), interval);
    for (const { run } of this.parts.queueFile.content().started) this.settleEnded(run);
    this.advance();
  }

  /** Resolves when no run is being started. */
  async settled(): Promise<void> {
    do {
      await this.passes.settled();
      await Promise.all(this.starting.values());
    } while (this.passes.isRunning || this.starting.size > 0);
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

  /** Stops starting runs until the next `work`. Resolves when the starts in progress have finished. */
  async pause(): Promise<void> {
    this.stopTimer();
    await this.settled();
  }

  /** Starts in progress continue in their trainers. */
  close(): void {
    this.closed = true;
    this.stopEvents();
    this.stopTimer();
  }

  private stopTimer(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private change<T>(change: (content: QueueContent) => T): T {
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
      while (this.mayStart) {
        const placed = await this.next();
        if (!placed) return;
        const { run, device } = placed;
        const start = this.start(run, device).finally(() => {
          this.starting.delete(run);
          this.advance();
        });
        this.starting.set(run, start);
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
    this.parts.log(`The queue is blocked: ${problem.message}`);
    this.setBlockedBy(problem);
  }

  private setBlockedBy(problem: ApiError | null): void {
    if (problem?.message === this.blockedBy?.message) return;
    this.blockedBy = problem;
    this.parts.notices.emit('queue', { problem });
  }

  /** Claims a device for the first run that has a free one; drops deleted runs. Returns null if every run waits. */
  private async next(): Promise<{ run: string; device: PoolDevice } | null> {
    const entries = this.pending();
    if (entries.length === 0) {
      this.waits = new Map();
      return null;
    }
    const claimed = await this.claimOfEarlierProcess(entries);
    if (claimed) return claimed;
    const { placed, waits, problem } = await this.placer.next(entries);
    this.setWaits(waits);
    if (!placed) {
      this.setBlockedBy(problem);
      return null;
    }
    const { run, device } = placed;
    const exists = this.mayStart && this.claim(run, device);
    return exists ? placed : this.mayStart ? this.next() : null;
  }

  /** Drops outdated entries and returns the others. */
  private pending(): readonly QueueEntry[] {
    return this.change((content) => {
      content.runs = content.runs.filter((entry) => this.isPending(entry) || this.starting.has(entry.run));
      return content.runs;
    });
  }

  /** Returns a run that an earlier process was starting, if its trainer is still loading. Other claims are released. */
  private async claimOfEarlierProcess(
    entries: readonly QueueEntry[],
  ): Promise<{ run: string; device: PoolDevice } | null> {
    const { runs, trainer } = this.parts;
    for (const { run, device } of entries) {
      if (!device || this.starting.has(run)) continue;
      if ((await trainer.status(runs.folder(run))).running)
        return { run, device: { ...device, name: device.id, memoryBytes: null, freeBytes: null } };
      this.release(run);
    }
    return null;
  }

  /** Records the device of a run that is about to start. Returns false if the run has left the queue. */
  private claim(runId: string, { id, uuid = null }: PoolDevice): boolean {
    return this.change((content) => claim(content, runId, { id, uuid }));
  }

  private release(runId: string): void {
    this.change((content) => release(content, runId));
  }

  private setWaits(waits: ReadonlyMap<string, string>): void {
    const before = JSON.stringify([...this.waits]);
    this.waits = waits;
    if (JSON.stringify([...waits]) !== before) this.parts.notices.emit('queue', { problem: this.problem() });
  }

  /** Returns whether an entry still has to be started. */
  private isPending({ run, added }: QueueEntry): boolean {
    const { database } = this.parts;
    const row = getRun(database, run);
    return row !== undefined && row.status !== 'completed' && (lastStart(database, run) ?? 0) < added;
  }

  private async start(runId: string, device: PoolDevice): Promise<void> {
    const { database, runs } = this.parts;
    try {
      const before = lastStart(database, runId);
      const startedHere = await runs.start(runId, device.id).then(
        () => true,
        (error) => {
          // An earlier process may have started the trainer, or the run's previous trainer is just ending.
          if (asFailure(error).code !== 'run_active') throw error;
          return false;
        },
      );
      const started = await this.untilStarted(runId, before);
      if (this.closed) return;
      this.setBlockedBy(null);
      // Otherwise the previous trainer exited, and the run must still be started.
      if (!startedHere && !started) return this.release(runId);
      this.markStarted(runId);
      this.settleEnded(runId);
    } catch (error) {
      await this.startFailed(runId, device, error).catch((problem) => {
        if (this.closed) return;
        this.release(runId);
        this.postpone(problem);
      });
    }
  }

  /** Throws a problem of the machine, after which the run stays queued. */
  private async startFailed(runId: string, device: PoolDevice, error: unknown): Promise<void> {
    if (this.closed) return;
    const failure = asFailure(error).toApiError();
    if (machineCodes.includes(failure.code)) throw error;
    if (isDeviceFailure(failure) && this.pool.has(device)) {
      this.markStarted(runId);
      return this.deviceFailed(runId, failure);
    }
    // The annotation comes first: if this process exits in between, the run is started again instead of silently lost.
    if (failure.code !== 'run_completed') await this.parts.annotations.add(runId, { type: 'start_failed', ...failure });
    this.drop(runId);
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
    if (entry && !this.isPending(entry)) this.markStarted(runId);
  }

  /** Moves a run from the queued to the started ones if the queue has started it; otherwise removes it from the queue. */
  private markStarted(runId: string): void {
    if (this.closed) return;
    this.change((content) => markStarted(content, runId));
  }

  /** Removes a started run that has ended; requeues it if its device failed. */
  private settleEnded(runId: string): void {
    if (this.closed || !this.parts.queueFile.content().started.some(({ run }) => run === runId)) return;
    const row = getRun(this.parts.database, runId);
    if (row) {
      const { status, failure } = this.parts.supervisor.summary(row);
      if (isLive(status) || this.parts.runs.isLoading(runId)) return;
      if (status === 'failed' && failure && isDeviceFailure(failure)) {
        this.deviceFailed(runId, failure);
        return;
      }
    }
    this.change(({ started }) => take(started, runId));
  }

  /** Sets the device of a started run aside and returns the run to the queue. */
  private deviceFailed(runId: string, problem: ApiError): void {
    const { annotations, log } = this.parts;
    const result = this.change((content) => afterDeviceFailure(content, runId, problem, this.pool.nameOf));
    if (!result) return;
    log(result.message);
    this.pool.publish();
    if (!result.requeued)
      void annotations
        .add(runId, { type: 'start_failed', ...problem, message: result.message })
        .catch((error) => log(asFailure(error).message));
    this.advance();
  }

  private drop(runId: string): void {
    if (!this.closed) this.change(({ runs }) => take(runs, runId));
  }
}
