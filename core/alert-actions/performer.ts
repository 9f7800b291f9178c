import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { KnownAction } from '../contract/contract.ts';
import { asFailure, Failure, ignoring } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import { derivedName, rolledBackTo } from '../contract/run-names.ts';
import type { History } from '../history/history.ts';
import { lastStart } from '../history/queries.ts';
import type { Queue } from '../queue/queue.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Annotations } from '../runs/annotations.ts';
import { recordedRollbacks, rollbacksBefore } from '../runs/fork-ancestors.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { commandPlan, describeRollBack, type Plan } from './plan.ts';

/** Longest wait (ms) for a trainer to pause or stop: it may first finish an evaluation or an update of a large model. */
const trainerTimeout = 600_000;
const pollInterval = 200;
const doneMessages = { pause: 'Paused.', checkpoint: 'Checkpoint saved.', stop: 'Stopped.' };

export interface PerformerParts {
  history: History;
  runs: Runs;
  supervisor: Supervisor;
  annotations: Annotations;
  queue: Queue;
  trainer: Trainer;
  log: (message: string) => void;
}

export type PlannedAction = Plan &
  Pick<KnownAction, 'id' | 'by' | 'alert'> & {
    /** Display name for the fork of a roll-back. It isn't recorded: if another process completes the action, the fork gets the default name. */
    forkName?: string | undefined;
  };

/** Returns the id of the pause that replaces a failed roll-back. It is the same each time the roll-back is retried. */
export const pauseIdOf = (id: string) => `${id}-pause`;

/** Performs actions. Records each in the run's annotations before and after, so that a later process can complete it without repeating a step. */
export class ActionPerformer {
  private readonly parts: PerformerParts;
  private closed = false;

  constructor(parts: PerformerParts) {
    this.parts = parts;
  }

  /** Leaves actions in progress to the next process. */
  close(): void {
    this.closed = true;
  }

  async perform(runId: string, planned: PlannedAction): Promise<void> {
    await this.record(runId, planned, 'begun', planned.message);
    await this.finish(runId, planned);
  }

  /** Performs a recorded action and records its outcome. */
  async finish(runId: string, planned: PlannedAction): Promise<void> {
    try {
      const done =
        planned.kind === 'rollback' ? await this.rollBack(runId, planned) : await this.command(runId, planned);
      await this.record(runId, planned, 'done', done);
    } catch (error) {
      if (this.closed) return;
      const { message: why, hint } = asFailure(error);
      const pause =
        planned.by === 'monitor' && planned.kind === 'rollback' ? this.pauseInstead(runId, planned, error) : null;
      // Recorded before the failure: if this process exits in between, the next host still completes one of the two.
      if (pause) await this.record(runId, pause, 'begun', pause.message);
      await this.record(runId, planned, 'failed', `${why} ${hint}`);
      if (!pause) throw error;
      await this.finish(runId, pause);
    }
  }

  /**
   * Plans a pause instead of an automatic roll-back that failed, because further training would collapse the run. Returns null if the run
   * doesn't train or was already requested to stop.
   */
  pauseInstead(
    runId: string,
    { id, alert }: Pick<PlannedAction, 'id' | 'alert'>,
    error: unknown,
  ): PlannedAction | null {
    if (this.closed || !isLive(this.parts.runs.get(runId).status)) return null;
    const { code, message: why } = asFailure(error);
    if (code === 'run_active') return null;
    const message = `Paused, not rolled back: ${why}`;
    return { id: pauseIdOf(id), by: 'monitor', alert, ...commandPlan('pause', message) };
  }

  async record(runId: string, planned: PlannedAction, state: KnownAction['state'], message: string): Promise<void> {
    const { id: action, forkName: _, ...rest } = planned;
    await this.parts.annotations.add(runId, { type: 'action', action, ...rest, state, message });
    if (planned.by === 'monitor') this.parts.log(`${runId}: ${message}`);
  }

  /** Returns the number of automatic roll-backs that led to a run. */
  rollbacksBefore(runId: string): number {
    const { history, runs } = this.parts;
    return rollbacksBefore(history.database, runId, (id) => runs.folder(id));
  }

  /** Returns the success message. */
  private async command(runId: string, { kind, by, message: planned }: PlannedAction): Promise<string> {
    const { runs } = this.parts;
    const command = kind as keyof typeof doneMessages;
    const done = planned || doneMessages[command];
    const { status } = runs.get(runId);
    if (kind === 'pause' && status === 'paused') return done;
    if (kind === 'stop' && !isLive(status)) return done;
    // A user gets an error after a minute without a response; an automatic action waits longer.
    const timeout = by === 'monitor' ? trainerTimeout : undefined;
    const { accepted, message } = await runs.command(runId, command, {}, timeout);
    if (accepted) return done;
    throw new Failure('command_refused', `The command was rejected: ${message}.`, "See the run's log.");
  }

  /** Skips the steps that an earlier process completed. Returns the success message. */
  private async rollBack(runId: string, planned: PlannedAction): Promise<string> {
    const { history, queue, runs } = this.parts;
    const fork = planned.fork!;
    if (!existsSync(runs.folder(fork))) {
      const set = Object.fromEntries(planned.changes.map(({ path, value }) => [path, value]));
      await runs.create({ run: runId, checkpoint: planned.checkpoint!, keepOptimizer: false, set }, fork);
    }
    await this.recordRollbacks(runId, planned);
    await this.nameFork(runId, planned);
    await queue.whileHeld(async () => {
      await this.stop(runId);
      if (lastStart(history.database, fork) === null) await runs.start(fork).catch(ignoring('run_active'));
    });
    return `Rolled back to ${describeRollBack(planned)}.`;
  }

  /** Names the fork, unless it has a name. */
  private async nameFork(runId: string, { fork, checkpoint, changes, forkName }: PlannedAction): Promise<void> {
    const { annotations, runs } = this.parts;
    if (annotations.marks(fork!).name !== '') return;
    const taken = runs.list().map(({ name }) => name);
    const name = forkName?.trim() || derivedName(runs.get(runId).name, rolledBackTo(checkpoint!, changes), taken);
    await annotations.annotate({ runId: fork!, name });
  }

  /** Records in the fork's annotations how many automatic roll-backs led to it. */
  private async recordRollbacks(runId: string, { by, fork }: PlannedAction): Promise<void> {
    const { annotations, runs } = this.parts;
    const count = this.rollbacksBefore(runId) + (by === 'monitor' ? 1 : 0);
    if ((recordedRollbacks(runs.folder(fork!)) ?? 0) >= count) return;
    await annotations.add(fork!, { type: 'rollbacks', count });
  }

  /** Stops a run and waits until its trainer has exited. */
  private async stop(runId: string): Promise<void> {
    const { runs, supervisor, trainer } = this.parts;
    // Without a response in time, the trainer still receives the command after its update.
    if (isLive(runs.get(runId).status))
      await runs.command(runId, 'stop').catch(ignoring('run_not_active', 'trainer_not_responding'));
    const start = performance.now();
    // Waits until the journal has the end, then until the trainer's lock is released, which happens when its process exits.
    while (isLive(runs.get(runId).status) || (await trainer.status(runs.folder(runId))).running) {
      if (performance.now() - start > trainerTimeout)
        throw new Failure(
          'run_active',
          `Run ${runId} did not stop in time.`,
          'See trainer.log. If the trainer hangs, end its process. The fork exists and can be started manually.',
        );
      await setTimeout(pollInterval);
      if (this.closed) throw new Error('The server is shutting down.');
    }
    await supervisor.trainerEnded(runId);
  }
}
