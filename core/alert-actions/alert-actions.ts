import { randomUUID } from 'node:crypto';
import { KeyedMutex } from '../base/keyed-mutex.ts';
import type { Alert, AlertAction, Input, KnownAction } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import { isAlarm } from '../contract/trap-words.ts';
import { readActions, unfinishedActions } from '../history/annotations.ts';
import { lastStart } from '../history/queries.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { ActionPerformer, type PerformerParts, type PlannedAction, pauseIdOf } from './performer.ts';
import { pinRollbackCheckpoints } from './pins.ts';
import { commandPlan, type Plan, rollBackPlan } from './plan.ts';

/** Maximum number of automatic roll-backs among a run's ancestors. After that, a user must decide. */
const maxRollbacks = 2;

/** Actions on alarms: advice applied by the user and, after `work`, the automatic action of each active run (`automatic_action` of run.json). */
export class AlertActions {
  private readonly parts: PerformerParts;
  private readonly performer: ActionPerformer;
  /** One action at a time per run. */
  private readonly mutex = new KeyedMutex();
  private readonly stops: (() => void)[] = [];
  private working = false;
  private closed = false;

  constructor(parts: PerformerParts) {
    this.parts = parts;
    this.performer = new ActionPerformer(parts);
  }

  /** Starts automatic actions for active runs and completes actions that an earlier process began. */
  work(): void {
    const { history, runs, supervisor } = this.parts;
    if (this.working || this.closed || history.readOnly) return;
    this.working = true;
    this.stops.push(
      supervisor.events.on('alerts', ({ runId }) => this.respond(runId)),
      supervisor.events.on('journal', ({ runId, events }) => {
        if (events.some(({ type }) => type === 'checkpoint')) void this.pin(runId);
      }),
    );
    for (const { run, action } of unfinishedActions(history.database)) this.complete(run, action);
    for (const run of runs.list()) if (isLive(run.status)) this.respond(run.id);
  }

  /** Applies advice chosen by the user. Throws as `echoTrap.act` does. */
  async act({ runId, adviceId, alertId, name }: Input<'echoTrap.act'>): Promise<AlertAction> {
    const { annotations, history, runs } = this.parts;
    if (alertId === undefined) runs.require(runId);
    else annotations.requireAlert(runId, alertId);
    const finished = readActions(history.database, runId).filter(({ state }) => state !== 'begun');
    const finishedIds = finished.map(({ id }) => id);
    const id = randomUUID();
    await this.inTurn(runId, async () => {
      const plan = await this.planOf(runId, adviceId, finishedIds);
      await this.performer.perform(runId, { ...plan, id, by: 'user', alert: alertId ?? null, forkName: name });
    });
    return readActions(history.database, runId).find((each) => each.id === id)!;
  }

  /** Plans advice in the run's current state. `finishedIds`: actions that had finished when the user chose it. */
  private async planOf(runId: string, adviceId: string, finishedIds: readonly string[]): Promise<Plan> {
    const { history, runs, supervisor } = this.parts;
    const advice = (await supervisor.trap(runId))?.advice.find(({ id }) => id === adviceId);
    if (!advice)
      throw new Failure(
        'advice_unknown',
        `The advice ${adviceId} is not available for run ${runId}.`,
        `Advice changes with the state of the run. See its current advice on its page or with \`starpo alerts ${runId}\`.`,
      );
    if (!advice.acts)
      throw new Failure('advice_idle', `"${advice.title}" has no effect: ${advice.reason}`, 'Choose other advice.');
    const { action } = advice;
    if (action.kind === 'command') return commandPlan(action.command);
    const rollback = readActions(history.database, runId).find(
      ({ id, state, fork }) => state === 'done' && fork !== null && !finishedIds.includes(id),
    );
    if (rollback)
      throw new Failure(
        'advice_idle',
        `"${advice.title}" has no effect: the run was just rolled back.`,
        `It was continued in ${rollback.fork}.`,
      );
    return rollBackPlan(runs.folder(runId), action, await this.config(runId));
  }

  /** Leaves actions in progress to the next process. */
  close(): void {
    this.closed = true;
    this.performer.close();
    for (const stop of this.stops) stop();
  }

  /** Takes the automatic action on a new alarm of an active run. */
  private respond(runId: string): void {
    this.inBackground(runId, async () => {
      const { annotations, history, runs } = this.parts;
      const actions = readActions(history.database, runId);
      // A run that was resumed after a roll-back gets no automatic actions.
      if (actions.some(({ state, fork }) => state === 'done' && fork !== null)) return;
      const alarm = newAlarm(annotations.alerts(runId), actions);
      const run = runs.get(runId);
      // The monitor may have recovered since an alarm that was raised without a host.
      if (!alarm || !isLive(run.status) || !run.trap || !isAlarm(run.trap.state)) return;
      const config = await this.config(runId);
      if (config.automatic_action !== 'notify') await this.actAutomatically(runId, config, alarm);
    });
  }

  private async actAutomatically(runId: string, config: RunConfig, { id: alert }: Alert): Promise<void> {
    const { performer } = this;
    const { automatic_action: action } = config;
    const base = { id: alert, by: 'monitor', alert } as const;
    if (action === 'pause' || action === 'stop') return performer.perform(runId, { ...base, ...commandPlan(action) });
    let planned: PlannedAction;
    try {
      planned = { ...base, ...(await this.automaticRollBack(runId, config)) };
    } catch (error) {
      const pause = performer.pauseInstead(runId, base, error);
      if (!pause) throw error;
      planned = pause;
    }
    await performer.perform(runId, planned);
  }

  private async automaticRollBack(runId: string, config: RunConfig): Promise<Plan> {
    const { runs, supervisor } = this.parts;
    const count = this.performer.rollbacksBefore(runId);
    if (count >= maxRollbacks)
      throw new Failure(
        'rollbacks_used_up',
        `This run is the result of ${count} automatic roll-backs, the maximum.`,
        'Check the settings that the run shares with its ancestors.',
      );
    const rollbacks = ((await supervisor.trap(runId))?.advice ?? []).filter(({ action }) => action.kind === 'rollback');
    const action = rollbacks.find(({ preferred }) => preferred)?.action;
    if (action?.kind !== 'rollback')
      throw new Failure('advice_idle', rollbacks[0]?.reason ?? 'No suitable change is available.', 'Check the run.');
    return rollBackPlan(runs.folder(runId), action, config);
  }

  /** Completes an action that an earlier process began. */
  private complete(runId: string, { time, changedAt: _, state: __, ...planned }: KnownAction): void {
    const { id } = planned;
    const { database } = this.parts.history;
    this.inBackground(runId, async () => {
      const actions = readActions(database, runId);
      // Completing a roll-back may have completed the pause that replaces it.
      if (actions.some((each) => each.id === id && each.state !== 'begun')) return;
      const pause = actions.find((each) => each.id === pauseIdOf(id));
      // A roll-back that a pause has replaced is not retried.
      if (pause) return this.performer.record(runId, planned, 'failed', pause.message);
      // If the user started the run since then, it should keep training.
      const restarted = (lastStart(database, runId) ?? 0) > time;
      if (restarted)
        return this.performer.record(runId, planned, 'failed', 'The run was restarted before this action.');
      await this.performer.finish(runId, planned);
    });
  }

  private async pin(runId: string): Promise<void> {
    const { history, runs, log } = this.parts;
    try {
      if (!isLive(runs.get(runId).status) || (await this.config(runId)).automatic_action !== 'rollback') return;
      const trap = await history.trap(runId);
      if (!this.closed) pinRollbackCheckpoints(runs.folder(runId), trap?.lastHealthy ?? null);
    } catch (error) {
      if (!this.closed) log(`${runId}: can't pin checkpoints: ${asFailure(error).message}`);
    }
  }

  private async config(runId: string): Promise<RunConfig> {
    return validateConfig(await this.parts.runs.config(runId));
  }

  /** Runs work in the run's turn and logs its errors. */
  private inBackground(runId: string, work: () => Promise<void>): void {
    this.inTurn(runId, work).catch((error) => {
      if (!this.closed) this.parts.log(`${runId}: ${asFailure(error).message}`);
    });
  }

  private inTurn(runId: string, work: () => Promise<void>): Promise<void> {
    return this.mutex.run(runId, async () => {
      if (!this.closed) await work();
    });
  }
}

/** Returns the newest alarm without an answer or action. */
export function newAlarm(alerts: readonly Alert[], actions: readonly AlertAction[]): Alert | undefined {
  const handledUntil = Math.max(-1, ...actions.map(({ time }) => time));
  return alerts.findLast(
    ({ level, state, raisedAt }) => level !== null && isAlarm(level) && state === 'raised' && raisedAt > handledUntil,
  );
}
