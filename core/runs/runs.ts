import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import type { RunSummary } from '../contract/contract.ts';
import { Failure, messageOf, runNotActive, runUnknown } from '../contract/failure.ts';
import { isNumberedGpu } from '../contract/run-facts.ts';
import type { HistoryDatabase } from '../history/database.ts';
import type { History } from '../history/history.ts';
import { lastStart, wasStartedAfter } from '../history/queries.ts';
import { getRun, type RunRow } from '../history/runs-table.ts';
import { whyUnreadable } from '../history/unreadable.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { firstIteration } from '../run-config/start.ts';
import { validateConfig } from '../run-config/validate.ts';
import { checkpointsOf, hasOptimizer } from '../run-directory/checkpoints.ts';
import { appendCommand, type Command } from '../run-directory/control.ts';
import { refuseImported } from '../run-directory/imported.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import { requireJsonFile } from '../run-directory/parse-line.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import { waitForEvent } from '../run-sync/wait.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { createRun, type NewRun } from './create-run.ts';
import { inheritanceOf } from './inheritance.ts';

/** Longest wait (ms) for a trainer's first event and for its response to a command. */
const defaultTimeout = 60_000;

interface RunsParts {
  database: HistoryDatabase;
  history: Pick<History, 'forkBaseline'>;
  home: string;
  resources: string;
  trainer: Trainer;
  supervisor: Supervisor;
  cluster: Cluster;
}

/** Creates, starts, commands and lists runs. */
export class Runs {
  private readonly parts: RunsParts;
  /** Starts in progress, by run. */
  private readonly starting = new Map<string, Promise<void>>();
  /** Runs whose trainer might not have written an event yet, with the time of their previous start and the device. */
  private readonly loading = new Map<string, { previousStart: number | null; device: string | undefined }>();

  constructor(parts: RunsParts) {
    this.parts = parts;
  }

  folder(runId: string): string {
    return runFolder(this.parts.home, runId);
  }

  /** Returns all runs, newest first. */
  list(): RunSummary[] {
    return this.parts.supervisor.list().sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  }

  /** Throws `run_unknown`, or `run_unreadable` if the run's folder can't be indexed. */
  get(runId: string): RunSummary {
    return this.parts.supervisor.summary(this.row(runId));
  }

  /** Returns the id of an existing run. Throws as {@link get} does. */
  require(runId: string): string {
    return this.row(runId).id;
  }

  /** Returns the content of run.json, which may be of a newer version. Throws `run_unknown` or `config_unreadable`. */
  async config(runId: string): Promise<unknown> {
    this.require(runId);
    return this.configNow(runId);
  }

  /**
   * Returns the configuration of a run that can be started or resumed. Throws `run_unknown`, `run_imported`, `run_completed`, `model_missing`,
   * `run_not_resumable`, `command_not_confirmed`, `config_unreadable`, `config_invalid` or `config_version_unsupported`.
   */
  requireStartable(runId: string): RunConfig {
    const { task, status } = this.row(runId);
    refuseImported(runId, task);
    if (status === 'completed')
      throw new Failure(
        'run_completed',
        `Run ${runId} has completed.`,
        `Extend it with ${task === 'reinforce' ? 'Train more on its page, or with ' : ''}\`starpo extend ${runId} ITERATIONS\`.`,
      );
    const config = validateConfig(this.configNow(runId));
    this.requireCheckpoint(runId, config);
    this.requireModel(runId, config);
    this.parts.trainer.confirmed?.require(config);
    return config;
  }

  /** See {@link createRun}. `starts`: also throws `command_not_confirmed`, before the run is created. */
  async create(newRun: NewRun, id?: string, starts = false): Promise<string> {
    const runId = await createRun(this.parts, newRun, id, (config) => {
      if (starts) this.parts.trainer.confirmed?.require(config);
      return inheritanceOf(this.parts, config);
    });
    await this.parts.supervisor.add(runId);
    return runId;
  }

  /**
   * Starts or resumes a run's trainer, on `device` instead of the one of run.json, unless it has been started after the event `after`. Resolves
   * when the trainer has written its first event, or after a minute if it is still loading.
   * Throws `run_active`, `trainer_missing`, an error of {@link requireStartable}, or an error of the trainer.
   */
  async start(runId: string, device?: string, after?: number): Promise<void> {
    const earlier = this.starting.get(runId);
    if (earlier) {
      await earlier;
      throw alreadyRunning(runId);
    }
    const start = this.launch(runId, device, after).finally(() => this.starting.delete(runId));
    this.starting.set(runId, start);
    await start;
  }

  /** Throws as {@link Cluster.refuseActive} does. */
  async refuseSent(runId: string): Promise<void> {
    await this.parts.cluster.refuseActive(runId);
  }

  /** Returns whether this process has started a trainer that has not written an event yet, for example because it loads a large model. */
  isLoading(runId: string): boolean {
    if (this.starting.has(runId)) return true;
    const loading = this.loading.get(runId);
    return loading !== undefined && lastStart(this.parts.database, runId) === loading.previousStart;
  }

  /** Returns the device on which a loading run was started; undefined if the trainer selects one. */
  loadingDevice(runId: string): string | undefined {
    return this.loading.get(runId)?.device;
  }

  private async launch(runId: string, device: string | undefined, after: number | undefined): Promise<void> {
    const { supervisor, trainer } = this.parts;
    trainer.require();
    const { running } = await trainer.status(this.folder(runId));
    // The end of a short run may not be ingested yet.
    await supervisor.refresh(runId);
    if (after !== undefined && wasStartedAfter(this.parts.database, runId, after)) return;
    if (running) throw alreadyRunning(runId);
    const config = this.requireStartable(runId);
    await this.refuseSent(runId);
    const wait = waitForEvent(supervisor, runId, (event) => event.type === 'started' || event.type === 'failed');
    this.loading.set(runId, { previousStart: lastStart(this.parts.database, runId), device });
    const loaded = () => void this.loading.delete(runId);
    try {
      const chosen = device ?? (isNumberedGpu(config.device) ? config.device : undefined);
      const { ended } = await trainer.launch(config.task, this.folder(runId), chosen).catch((error) => {
        loaded();
        throw error;
      });
      void ended.then(loaded);
      const failed = ended.then(async ({ status, signal, error }) => {
        await supervisor.trainerEnded(runId);
        return (
          error ??
          new Failure(
            'trainer_failed',
            `The trainer ended with ${signal ?? `status ${status}`}.`,
            'See trainer.log in the run folder. If the system ran out of memory, reduce rollout.slots or choose a smaller model.',
          )
        );
      });
      const polling = setInterval(() => supervisor.refresh(runId).catch(() => {}), 100).unref();
      const outcome = await Promise.race([wait.event, failed, wait.after(defaultTimeout)]).finally(() =>
        clearInterval(polling),
      );
      if (outcome instanceof Failure && wait.seen() === null) throw outcome;
    } finally {
      wait.close();
    }
  }

  /**
   * Sends a command to a running trainer and waits for its response. Throws `run_unknown`, `run_not_active`, or
   * `trainer_not_responding` without a response within `timeout` ms. Default one minute.
   */
  async command(
    runId: string,
    command: Command,
    args: Record<string, unknown> = {},
    timeout = defaultTimeout,
  ): Promise<{ accepted: boolean; message: string }> {
    // Processes pending events first, so that none is mistaken for the response.
    await this.parts.supervisor.refresh(runId);
    const run = this.get(runId);
    if (run.status !== 'running' && run.status !== 'paused') throw runNotActive(run);
    let id = '';
    const endTypes = ['stopped', 'failed', 'started'];
    const wait = waitForEvent(
      this.parts.supervisor,
      runId,
      ({ type, meaning }) => endTypes.includes(type) || meaning.acknowledged?.commandId === id,
    );
    try {
      id = appendCommand(this.folder(runId), command, args);
      const outcome = await Promise.race([wait.event, wait.interrupted, wait.after(timeout)]);
      if (outcome === null) {
        throw new Failure(
          'trainer_not_responding',
          `The trainer of ${runId} has not responded yet.`,
          'It executes the command after its current step, which can take minutes with a large model. If trainer.log shows that it hangs, end its process and resume the run.',
        );
      }
      const response = outcome === 'interrupted' ? undefined : outcome.meaning.acknowledged;
      if (!response) return { accepted: false, message: 'the trainer exited before it received the command' };
      return { accepted: response.accepted, message: response.message };
    } finally {
      wait.close();
    }
  }

  /** Throws `run_not_resumable` if the run has trained but has no checkpoint to resume from: a start would replace its metrics and checkpoints. */
  private requireCheckpoint(runId: string, config: RunConfig): void {
    const folder = this.folder(runId);
    const checkpoints = checkpointsOf(folder);
    const newest = checkpoints.at(-1);
    const trained = Math.max(this.row(runId).iteration, newest ?? 0);
    if (trained <= firstIteration(config)) return;
    if (checkpoints.some((iteration) => hasOptimizer(folder, iteration))) return;
    const again = `start a new run with the same configuration: \`starpo train --from ${runId}\``;
    throw new Failure(
      'run_not_resumable',
      `Run ${runId} can't be resumed after iteration ${trained}, because ${newest === undefined ? 'it has no checkpoint' : 'none of its checkpoints has an optimizer state'}.`,
      newest === undefined
        ? `${again[0]!.toUpperCase()}${again.slice(1)}.`
        : `Fork from checkpoint ${newest} with a new optimizer: \`starpo train --from ${runId}@${newest}\`. Or ${again}.`,
    );
  }

  /** Throws `model_missing` if the initial model was not found and the run has no checkpoint to resume from. */
  private requireModel(runId: string, { start }: RunConfig): void {
    if (existsSync(join(start.model, 'config.json'))) return;
    if (checkpointsOf(this.folder(runId)).length > 0) return;
    throw new Failure(
      'model_missing',
      `The initial model ${start.model} of run ${runId} was not found.`,
      'Restore the model folder, or change start.model in run.json. A run with checkpoints does not need it.',
    );
  }

  private configFile(runId: string): string {
    return join(this.folder(runId), runFiles.config);
  }

  private configNow(runId: string): unknown {
    const path = this.configFile(runId);
    try {
      return requireJsonFile(path);
    } catch (error) {
      throw new Failure('config_unreadable', `${path} ${messageOf(error)}.`, 'Restore the file, or create a new run.');
    }
  }

  private row(runId: string): RunRow {
    const { database, home } = this.parts;
    const row = getRun(database, runId);
    if (row) return row;
    const reason = whyUnreadable(home, runId);
    if (reason === null) throw runUnknown(runId);
    throw new Failure(
      'run_unreadable',
      `The run folder ${this.folder(runId)} can't be read: ${reason}.`,
      'If its run.json is damaged, restore it, for example from a backup or a copy of the run.',
    );
  }
}

const alreadyRunning = (runId: string) =>
  new Failure(
    'run_active',
    `Run ${runId} is already running.`,
    `Stop it first, or follow it on its page or with \`starpo logs ${runId} --follow\`.`,
  );
