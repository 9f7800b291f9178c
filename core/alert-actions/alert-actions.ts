import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Notices } from '../base/notices.ts';
import type { Alert, AlertAction, Input, KnownAction, RunSummary } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import { isAlarm } from '../echo-trap/machine.ts';
import { readActions, unfinishedActions } from '../history/annotations.ts';
import type { History } from '../history/history.ts';
import { lastStart } from '../history/queries.ts';
import type { Queue } from '../queue/queue.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Annotations } from '../runs/annotations.ts';
import { carriedRollbacks, rollbacksBefore } from '../runs/line-of-forks.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { pinWanted } from './pins.ts';
import { commandPlan, type Plan, planWords, rollBackPlan } from './plan.ts';

/** Automatic roll-backs along a line of forks; then a person has to look. */
const mostRollbacks = 2;
/** Of the pause that takes a roll-back's place. */
const pauseIdOf = (id: string) => `${id}-pause`;
const doneWords = { pause: 'Paused.', checkpoint: 'Checkpoint saved.', stop: 'Stopped.' };
/** Longest wait, in milliseconds, for a trainer that was asked to pause or to stop: it ends an evaluation or an update of a large model first. */
const trainerPatience = 600_000;
const interval = 200;

export interface AlertActionsParts {
  history: History;
  runs: Runs;
  supervisor: Supervisor;
  annotations: Annotations;
  queue: Queue;
  trainer: Trainer;
  notices: Notices;
  log: (message: string) => void;
}

type PlannedAction = Plan & Pick<KnownAction, 'id' | 'by' | 'alert'>;

/**
 * Actions on alarms: advice applied by the user and, after `work`, the automatic action of each living run (`automatic_action` of run.json). Every action is
 * written to the run's annotations before it starts and after it ends, so the next core can complete it and no step is repeated.
 */
export class AlertActions {
  private readonly parts: AlertActionsParts;
  /** What is under way, by run: one thing after the other. */
  private readonly under = new Map<string, Promise<unknown>>();
  private readonly stops: (() => void)[] = [];
  private working = false;
  private closed = false;

  constructor(parts: AlertActionsParts) {
    this.parts = parts;
  }

  /** Starts automatic actions for living runs and continues actions that an earlier core began. */
  work(): void {
    const { history, runs, supervisor, notices } = this.parts;
    if (this.working || this.closed || history.readOnly) return;
    this.working = true;
    this.stops.push(
      notices.on((name, payload) => {
        if (name === 'alerts') this.look((payload as { runId: string }).runId);
      }),
      supervisor.onEvents((runId, events) => {
        if (events.some(({ type }) => type === 'checkpoint')) void this.pin(runId);
      }),
    );
    for (const { run, action } of unfinishedActions(history.database)) this.complete(run, action);
    for (const run of runs.list()) if (isActive(run)) this.look(run.id);
  }

  /** Applies advice chosen by the user. Throws as `echoTrap.act` does. */
  async act({ runId, adviceId, alertId }: Input<'echoTrap.act'>): Promise<AlertAction> {
    const { annotations, history } = this.parts;
    const alerts = annotations.alerts(runId);
    if (alertId !== undefined && !alerts.some(({ id }) => id === alertId))
      throw new Failure(
        'alert_unknown',
        `Alert ${alertId} was not found in run ${runId}.`,
        'Choose an alert from the run page or `starpo alerts`.',
      );
    const over = readActions(history.database, runId).filter(({ state }) => state !== 'begun');
    const known = over.map(({ id }) => id);
    const id = randomUUID();
    await this.inTurn(runId, async () => {
      const plan = await this.planOf(runId, adviceId, known);
      await this.perform(runId, { ...plan, id, by: 'user', alert: alertId ?? null });
    });
    return readActions(history.database, runId).find((each) => each.id === id)!;
  }

  /** Of an advice as things are when its turn comes. `known`: ids of what had been done when the person chose it. */
  private async planOf(runId: string, adviceId: string, known: readonly string[]): Promise<Plan> {
    const { history, runs, supervisor } = this.parts;
    const advice = (await supervisor.trap(runId))?.advice.find(({ id }) => id === adviceId);
    if (!advice)
      throw new Failure(
        'advice_unknown',
        `The advice ${adviceId} is not available for run ${runId}.`,
        'Advice changes with the state of the run. See its current advice.',
      );
    if (!advice.acts)
      throw new Failure(
        'advice_idle',
        `"${advice.title}" has no effect: ${advice.reason}`,
        'Choose another advice.',
      );
    const { action } = advice;
    if (action.kind === 'command') return commandPlan(action.command);
    const made = readActions(history.database, runId).find(
      ({ id, state, fork }) => state === 'done' && fork !== null && !known.includes(id),
    );
    if (made)
      throw new Failure(
        'advice_idle',
        `"${advice.title}" has no effect: the run was just rolled back.`,
        `Training continues in ${made.fork}.`,
      );
    return rollBackPlan(runs.folder(runId), action, await this.config(runId));
  }

  /** Lets go; what is under way is left to the next core. */
  close(): void {
    this.closed = true;
    for (const stop of this.stops) stop();
  }

  private look(runId: string): void {
    this.quietly(runId, async () => {
      const { annotations, runs } = this.parts;
      const actions = readActions(this.parts.history.database, runId);
      // A run that is trained further after a roll-back gets no automatic actions.
      if (actions.some(({ state, fork }) => state === 'done' && fork !== null)) return;
      const alarm = newAlarm(annotations.alerts(runId), actions);
      const run = runs.get(runId);
      // An alarm from a time without a host may have passed.
      if (!alarm || !isActive(run) || !run.trap || !isAlarm(run.trap.state)) return;
      const config = await this.config(runId);
      if (config.automatic_action !== 'notify') await this.actAutomatically(runId, config, alarm);
    });
  }

  private async actAutomatically(runId: string, config: RunConfig, { id: alert }: Alert): Promise<void> {
    const { automatic_action: action } = config;
    const planned = { id: alert, by: 'monitor', alert } as const;
    if (action === 'pause' || action === 'stop')
      return this.perform(runId, { ...planned, ...commandPlan(action) });
    let plan: Plan;
    try {
      plan = await this.automaticRollBack(runId, config);
    } catch (error) {
      const pause = this.pauseInstead(runId, planned, error);
      if (!pause) throw error;
      return this.perform(runId, pause);
    }
    await this.perform(runId, { ...planned, ...plan });
  }

  /**
   * Plans a pause in place of an automatic roll-back that failed, because the run would collapse if it trained on. Returns null if the run doesn't train. The pause
   * has its own id, which is the same each time the roll-back is retried.
   */
  private pauseInstead(
    runId: string,
    { id, alert }: Pick<PlannedAction, 'id' | 'alert'>,
    error: unknown,
  ): PlannedAction | null {
    if (this.closed || !isActive(this.parts.runs.get(runId))) return null;
    const { code, message: why } = asFailure(error);
    // It was asked to stop already, which is more.
    if (code === 'run_active') return null;
    const message = `Paused, not rolled back: ${why}`;
    return { id: pauseIdOf(id), by: 'monitor', alert, ...commandPlan('pause', message) };
  }

  private async automaticRollBack(runId: string, config: RunConfig): Promise<Plan> {
    const { runs, supervisor } = this.parts;
    const made = this.rollbacksBefore(runId);
    if (made >= mostRollbacks)
      throw new Failure(
        'rollbacks_used_up',
        `The run was already rolled back automatically ${made} times.`,
        'Check which settings its parents have in common.',
      );
    const rollbacks = ((await supervisor.trap(runId))?.advice ?? []).filter(
      ({ action }) => action.kind === 'rollback',
    );
    const action = rollbacks.find(({ preferred }) => preferred)?.action;
    if (action?.kind !== 'rollback')
      throw new Failure(
        'advice_idle',
        rollbacks[0]?.reason ?? 'No suitable change is available.',
        'Check the run.',
      );
    return rollBackPlan(runs.folder(runId), action, config);
  }

  /** Completes an action that an earlier core began. */
  private complete(runId: string, { time, changedAt: _, state: __, ...planned }: KnownAction): void {
    const { id } = planned;
    const { database } = this.parts.history;
    this.quietly(runId, async () => {
      const known = readActions(database, runId);
      // A pause that was begun may have been done with the roll-back whose place it takes, and that one isn't tried once more.
      if (known.some((each) => each.id === id && each.state !== 'begun')) return;
      const pause = known.find((each) => each.id === pauseIdOf(id));
      if (pause) return this.record(runId, planned, 'failed', pause.message);
      // If the user started the run since then, it should keep training.
      const restarted = (lastStart(database, runId) ?? 0) > time;
      if (restarted)
        return this.record(runId, planned, 'failed', 'The run was restarted before this action.');
      await this.finish(runId, planned);
    });
  }

  private async perform(runId: string, planned: PlannedAction): Promise<void> {
    await this.record(runId, planned, 'begun', planned.message);
    await this.finish(runId, planned);
  }

  private async finish(runId: string, planned: PlannedAction): Promise<void> {
    try {
      const done =
        planned.kind === 'rollback'
          ? await this.rollBack(runId, planned)
          : await this.command(runId, planned);
      await this.record(runId, planned, 'done', done);
    } catch (error) {
      if (this.closed) return;
      const { message: why, hint } = asFailure(error);
      const pause =
        planned.by === 'monitor' && planned.kind === 'rollback'
          ? this.pauseInstead(runId, planned, error)
          : null;
      // Begun before the roll-back has failed: a core that ends in between leaves one of the two to the next.
      if (pause) await this.record(runId, pause, 'begun', pause.message);
      await this.record(runId, planned, 'failed', `${why} ${hint}`);
      if (!pause) throw error;
      await this.finish(runId, pause);
    }
  }

  private async command(runId: string, { kind, by, message: said }: PlannedAction): Promise<string> {
    const { runs } = this.parts;
    const asked = kind as keyof typeof doneWords;
    const done = said || doneWords[asked];
    const { status } = runs.get(runId);
    if (kind === 'pause' && status === 'paused') return done;
    if (kind === 'stop' && !isActive({ status })) return done;
    // A user gets an error after a minute without an answer; an automatic action waits longer.
    const within = by === 'monitor' ? trainerPatience : undefined;
    const { accepted, message } = await runs.command(runId, asked, {}, within);
    if (accepted) return done;
    throw new Failure(
      'command_refused',
      `The trainer rejected the command: ${message}.`,
      'See the run’s log.',
    );
  }

  /** Step by step, each of which is left out where it was done before. */
  private async rollBack(runId: string, planned: PlannedAction): Promise<string> {
    const { history, queue, runs } = this.parts;
    const fork = planned.fork!;
    if (!existsSync(runs.folder(fork))) {
      const set = Object.fromEntries(planned.changes.map(({ path, value }) => [path, value]));
      await runs.create({ run: runId, checkpoint: planned.checkpoint!, keepOptimizer: false, set }, fork);
    }
    await this.carryRollbacks(runId, planned);
    await queue.whileHeld(async () => {
      await this.stop(runId);
      if (lastStart(history.database, fork) === null) await runs.start(fork).catch(unless('run_active'));
    });
    return `Rolled back to ${planWords(planned)}.`;
  }

  /** Records in the fork's annotations how many automatic roll-backs led to it. */
  private async carryRollbacks(runId: string, { by, fork }: PlannedAction): Promise<void> {
    const { annotations, runs } = this.parts;
    const count = this.rollbacksBefore(runId) + (by === 'monitor' ? 1 : 0);
    if ((carriedRollbacks(runs.folder(fork!)) ?? 0) >= count) return;
    await annotations.add(fork!, { type: 'rollbacks', count });
  }

  private rollbacksBefore(runId: string): number {
    const { history, runs } = this.parts;
    return rollbacksBefore(history.database, runId, (id) => runs.folder(id));
  }

  /** Settles when no trainer is at work on a run any more. */
  private async stop(runId: string): Promise<void> {
    const { runs, supervisor, trainer } = this.parts;
    // An update of a large model takes longer than an answer is waited for: the command is there all the same.
    if (isActive(runs.get(runId)))
      await runs.command(runId, 'stop').catch(unless('run_not_active', 'trainer_not_responding'));
    const start = performance.now();
    // Waits until the journal has the end, then until the trainer's lock is released, which happens when its process exits.
    while (isActive(runs.get(runId)) || (await trainer.status(runs.folder(runId))).running) {
      if (performance.now() - start > trainerPatience)
        throw new Failure(
          'run_active',
          `Run ${runId} did not stop in time.`,
          'See trainer.log. If the trainer hangs, end its process. The fork exists and can be started manually.',
        );
      await setTimeout(interval);
      if (this.closed) throw new Error('core is ending');
    }
    await supervisor.trainerEnded(runId);
  }

  private async record(
    runId: string,
    planned: PlannedAction,
    state: KnownAction['state'],
    message: string,
  ): Promise<void> {
    const { id: action, ...rest } = planned;
    await this.parts.annotations.add(runId, { type: 'action', action, ...rest, state, message });
    if (planned.by === 'monitor') this.parts.log(`${runId}: ${message}`);
  }

  private async pin(runId: string): Promise<void> {
    const { history, runs, log } = this.parts;
    try {
      if (!isActive(runs.get(runId)) || (await this.config(runId)).automatic_action !== 'rollback') return;
      const trap = await history.trap(runId);
      if (!this.closed) pinWanted(runs.folder(runId), trap?.lastHealthy ?? null);
    } catch (error) {
      if (!this.closed) log(`${runId}: could not pin checkpoints: ${asFailure(error).message}`);
    }
  }

  private async config(runId: string): Promise<RunConfig> {
    return validateConfig(await this.parts.runs.config(runId));
  }

  /** Runs work in the background and logs its errors. */
  private quietly(runId: string, work: () => Promise<void>): void {
    this.inTurn(runId, work).catch((error) => {
      if (!this.closed) this.parts.log(`${runId}: ${asFailure(error).message}`);
    });
  }

  private inTurn(runId: string, work: () => Promise<void>): Promise<void> {
    const before = this.under.get(runId) ?? Promise.resolve();
    const next = before.catch(() => {}).then(() => (this.closed ? undefined : work()));
    this.under.set(runId, next);
    return next;
  }
}

const isActive = ({ status }: Pick<RunSummary, 'status'>) => isLive(status);

/** Returns the newest alarm without an answer or action. */
export function newAlarm(alerts: readonly Alert[], actions: readonly AlertAction[]): Alert | undefined {
  const handled = Math.max(-1, ...actions.map(({ time }) => time));
  return alerts.findLast(
    ({ level, state, raisedAt }) =>
      level !== null && isAlarm(level) && state === 'raised' && raisedAt > handled,
  );
}

/** Passes over failures of some codes. */
const unless =
  (...codes: string[]) =>
  (error: unknown) => {
    if (!codes.includes(asFailure(error).code)) throw error;
  };
