import type { Notices } from '../base/notices.ts';
import type { TaskControl, Tasks } from '../base/tasks.ts';
import type { Evaluation, EvaluationChoices } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { checkpointMissing, checkpointsOf } from '../run-directory/checkpoints.ts';
import { evaluationResult, listEvaluationResults, readResult } from '../run-directory/evaluations.ts';
import { refuseImported } from '../run-directory/imported.ts';
import type { RolloutPaths } from '../run-directory/rollouts.ts';
import type { Runs } from '../runs/runs.ts';
import type { EvaluationProcess } from '../trainer/evaluate.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { finishedEvaluation, runningEvaluation } from './describe.ts';
import {
  type EvaluationOptions,
  type EvaluationTarget,
  evaluationChanges,
  evaluationTarget,
  otherEnvironments,
  ownSettings,
  samplingOf,
} from './target.ts';

export interface NewEvaluation extends EvaluationOptions {
  checkpoint: number;
  name?: string | undefined;
}

interface Job {
  evaluation: Evaluation;
  process: EvaluationProcess;
  /** Resolves after clients were notified of the end. */
  settled: Promise<void>;
}

async function ended({ process, settled }: Job): Promise<void> {
  await process.ended.catch(() => {});
  await settled;
}

interface EvaluationsParts {
  runs: Runs;
  trainer: Trainer;
  notices: Notices;
  tasks: Tasks;
}

/** Requested evaluations of checkpoints. Results are files in the run directory. Running evaluations end with this process. */
export class Evaluations {
  private readonly parts: EvaluationsParts;
  /** Running evaluations, by run and name. */
  private readonly jobs = new Map<string, Job>();
  private readonly failed = new Map<string, Evaluation>();
  private readonly starting = new Set<string>();
  private closed = false;

  constructor(parts: EvaluationsParts) {
    this.parts = parts;
  }

  /** Throws `run_unknown`, `run_imported`, `config_unreadable` or `config_invalid`. */
  async choices(runId: string): Promise<EvaluationChoices> {
    const config = await this.config(runId);
    const own = config.environments.map(({ label, type, config }) => ({
      on: label,
      type,
      own: true,
      config,
    }));
    const others = otherEnvironments(config).map(({ type, config }) => ({
      on: type,
      type,
      own: false,
      config,
    }));
    const { levels, seed, ...sampling } = ownSettings(config);
    const checkpoints = checkpointsOf(this.parts.runs.folder(runId)).toReversed();
    const environments = [...own, ...others];
    return { checkpoints, environments, levels, ...samplingOf(sampling), seed };
  }

  /**
   * Starts an evaluation and returns it when the policy is loaded. Throws `run_unknown`, `run_imported`, `environment_unknown`, `config_invalid`, `evaluation_active` if one is
   * running for this run, or an error of the trainer: `checkpoint_missing`, `checkpoint_pruned`, `checkpoint_corrupt`, `evaluation_exists`, ...
   */
  async start(runId: string, { checkpoint, name: requestedName, ...options }: NewEvaluation): Promise<Evaluation> {
    const config = await this.config(runId);
    const target = evaluationTarget(config, options);
    this.parts.trainer.confirmed?.require({ environments: [target.environment], reward: config.reward });
    if (this.starting.has(runId) || this.isRunning(runId)) throw alreadyActive(runId);
    this.starting.add(runId);
    try {
      const name = requestedName ?? (await this.freeName(runId, checkpoint, target));
      const evaluation = runningEvaluation(name, checkpoint, target, evaluationChanges(config, target));
      await this.launch(runId, config, evaluation, target);
      return { ...evaluation };
    } catch (error) {
      if (asFailure(error).code !== 'checkpoint_missing') throw error;
      throw checkpointMissing(runId, checkpoint, checkpointsOf(this.parts.runs.folder(runId)));
    } finally {
      this.starting.delete(runId);
    }
  }

  /** Returns all evaluations, newest first. */
  async list(runId: string): Promise<Evaluation[]> {
    const config = await this.readableConfig(runId);
    const results = await listEvaluationResults(this.parts.runs.folder(runId));
    const unfinished = [...this.jobs, ...this.failed].flatMap(([key, job]) =>
      key.startsWith(`${runId}/`) ? ['evaluation' in job ? job.evaluation : job] : [],
    );
    const done = results.map((result) => finishedEvaluation(config, result));
    return [...unfinished.filter(({ name }) => !done.some((each) => each.name === name)), ...done].sort(
      (a, b) => b.time - a.time,
    );
  }

  /** Returns the finished evaluations that play the same levels as those during training, with the same settings. */
  async comparable(runId: string): Promise<Evaluation[]> {
    const labels = (await this.readableConfig(runId))?.environments.map(({ label }) => label) ?? [];
    const all = await this.list(runId);
    return all.filter(
      ({ state, changes, label }) => state === 'done' && changes.length === 0 && labels.includes(label),
    );
  }

  /** Throws `evaluation_unknown` or `evaluation_corrupt`. */
  async get(runId: string, name: string): Promise<Evaluation> {
    const config = await this.readableConfig(runId);
    const key = `${runId}/${name}`;
    const unfinished = this.jobs.get(key)?.evaluation ?? this.failed.get(key);
    return unfinished ?? finishedEvaluation(config, await readResult(this.parts.runs.folder(runId), name));
  }

  /** Returns the episode file of a finished evaluation. */
  async paths(runId: string, name: string): Promise<RolloutPaths> {
    this.parts.runs.require(runId);
    return readResult(this.parts.runs.folder(runId), name);
  }

  /** Throws `evaluation_not_active`. */
  async cancel(runId: string, name: string): Promise<void> {
    this.parts.runs.require(runId);
    const job = this.jobs.get(`${runId}/${name}`);
    if (!job)
      throw new Failure(
        'evaluation_not_active',
        `The evaluation ${name} is not running.`,
        "The evaluation may have just finished. Check the run's evaluations.",
      );
    job.process.cancel();
    await ended(job);
  }

  /** Cancels running evaluations and rejects new ones. */
  async close(): Promise<void> {
    this.closed = true;
    const jobs = [...this.jobs.values()];
    for (const { process } of jobs) process.cancel();
    await Promise.all(jobs.map(ended));
  }

  private async launch(
    runId: string,
    config: RunConfig,
    evaluation: Evaluation,
    target: EvaluationTarget,
  ): Promise<void> {
    if (this.closed)
      throw new Failure('evaluation_canceled', 'StarPO Studio is shutting down.', 'Start the evaluation again.');
    const { runs, trainer, tasks } = this.parts;
    const key = `${runId}/${evaluation.name}`;
    const options = {
      checkpoint: evaluation.checkpoint,
      environment: JSON.stringify(target.environment),
      levels: target.levels,
      temperature: target.temperature,
      'top-p': target.top_p,
      'top-k': target.top_k,
      'min-p': target.min_p,
      seed: target.seed,
      name: evaluation.name,
    };
    let report: TaskControl['progress'] = () => {};
    const process = trainer.evaluate(runs.folder(runId), options, ({ done, total, eta_seconds }) => {
      Object.assign(evaluation, { done, etaSeconds: eta_seconds });
      report(done, total, eta_seconds);
      this.publish(runId, evaluation);
    });
    const job: Job = { evaluation, process, settled: Promise.resolve() };
    this.jobs.set(key, job);
    const title = `Evaluating checkpoint ${evaluation.checkpoint} on ${evaluation.label}`;
    const played = tasks.run({ kind: 'evaluation', runId, title, cancelable: true }, ({ signal, progress }) => {
      report = progress;
      if (signal.aborted) process.cancel();
      signal.addEventListener('abort', process.cancel);
      return process.ended;
    });
    try {
      await process.begun;
    } catch (error) {
      this.jobs.delete(key);
      throw error;
    }
    job.settled = played
      .then((result) => finishedEvaluation(config, evaluationResult.parse(result)))
      .catch((error) => {
        const failure = asFailure(error);
        const state = failure.code === 'evaluation_canceled' ? 'canceled' : 'failed';
        return { ...evaluation, state, etaSeconds: null, failure: failure.toApiError() } as const;
      })
      .then((outcome) => this.settle(runId, outcome));
  }

  private settle(runId: string, evaluation: Evaluation): void {
    const key = `${runId}/${evaluation.name}`;
    this.jobs.delete(key);
    if (evaluation.state === 'failed') this.failed.set(key, evaluation);
    else this.failed.delete(key);
    this.publish(runId, evaluation);
  }

  private publish(runId: string, evaluation: Evaluation): void {
    this.parts.notices.emit('evaluation', { runId, evaluation: { ...evaluation } });
  }

  private isRunning(runId: string): boolean {
    return [...this.jobs.keys()].some((key) => key.startsWith(`${runId}/`));
  }

  /** Returns a free name such as `000050-frozen-lake`, numbered if taken. */
  private async freeName(runId: string, checkpoint: number, { environment }: EvaluationTarget): Promise<string> {
    const names = new Set((await this.list(runId)).map(({ name }) => name));
    const base = `${String(checkpoint).padStart(6, '0')}-${environment.label}`;
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}-${number}`;
      if (!names.has(name)) return name;
    }
  }

  /** Returns null if the run was imported, or if its run.json is invalid or from a newer version. Its results are listed anyway. */
  private async readableConfig(runId: string): Promise<RunConfig | null> {
    this.parts.runs.require(runId);
    return this.config(runId).catch(() => null);
  }

  private async config(runId: string): Promise<RunConfig> {
    const { runs } = this.parts;
    refuseImported(runId, runs.get(runId).task);
    return validateConfig(await runs.config(runId));
  }
}

const alreadyActive = (runId: string) =>
  new Failure('evaluation_active', `An evaluation of ${runId} is running.`, 'Wait until it finishes, or cancel it.');
