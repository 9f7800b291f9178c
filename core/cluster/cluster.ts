import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureFolder } from '../base/folders.ts';
import type { JobAction } from '../contract/cluster.ts';
import type { RunJob } from '../contract/cluster-job.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';
import { runFolder } from '../run-directory/names.ts';
import { type JobFile, jobFilePath, readJobFile, writeJobFile } from './job-file.ts';
import { JobStates, notSubmitted, type SlurmOptions } from './job-states.ts';
import { describeTest, whyImpossible } from './job-words.ts';
import { type Job, slurmScript } from './script.ts';
import { parseQueue, queueFormat, runSlurm } from './slurm.ts';
import { Targets } from './targets.ts';

/** A batch script that the user was shown, and its run. The scripts of other runs differ only in the run. */
export interface ShownScript {
  text: string;
  run: string;
}

interface ClusterParts {
  home: string;
  /** Path of the app's trainer, and the environment variables that it needs. */
  trainer: { path: string; variables: NodeJS.ProcessEnv };
  slurm?: SlurmOptions | undefined;
}

/** Submits runs to a Slurm cluster whose nodes have access to the data folder, and controls their jobs. */
export class Cluster {
  readonly targets: Targets;
  readonly jobs: JobStates;
  private readonly parts: ClusterParts;
  private readonly run: typeof runSlurm;
  /** Runs that are being submitted. */
  private readonly submitting = new Set<string>();

  constructor(parts: ClusterParts) {
    this.parts = parts;
    this.run = parts.slurm?.run ?? runSlurm;
    this.targets = new Targets(parts.home);
    this.jobs = new JobStates(parts.home, parts.slurm);
  }

  /** Returns whether and when a job on a target could start, in words. Throws `target_unknown`, `targets_invalid` or an error of {@link runSlurm}. */
  async check(target: string): Promise<string> {
    return this.test(this.script('check', target));
  }

  /** Returns whether and when the job of a script could start, in words. Throws an error of {@link runSlurm}. */
  async test(script: string): Promise<string> {
    return describeTest(await this.run('sbatch', ['--test-only'], { input: script }));
  }

  /** Returns the script for a run. Throws `target_unknown` or `targets_invalid`. */
  script(runId: string, target: string): string {
    return this.scriptOf({ run: runId, folder: this.folder(runId) }, target);
  }

  /**
   * Submits a run and returns the job's id. `shown`: the script that the user was shown. Throws `job_active`, `job_never_runs`, `script_changed`, or as
   * {@link check} does.
   */
  async submit(runId: string, target: string, shown?: ShownScript): Promise<string> {
    return this.whileSubmitting([runId], () => {
      if (shown) refuseChanged(this.script(shown.run, target), shown.text);
      return this.submitScript([runId], target, this.script(runId, target), this.folder(runId), null);
    });
  }

  /** Returns the script for the runs of a sweep. */
  studyScript(studyId: string, runIds: readonly string[], target: string): string {
    return this.scriptOf(this.arrayOf(studyId, runIds, target), target);
  }

  /** Submits the runs of a sweep as a job array and returns the array's id. Throws as {@link submit} does. */
  async submitStudy(studyId: string, runIds: readonly string[], target: string, shown?: string): Promise<string> {
    return this.whileSubmitting(runIds, () => {
      const job = this.arrayOf(studyId, runIds, target);
      const script = this.scriptOf(job, target);
      if (shown !== undefined) refuseChanged(script, shown);
      ensureFolder(dirname(job.folder));
      ensureFolder(job.folder);
      return this.submitScript(runIds, target, script, job.folder, studyId);
    });
  }

  /** Throws `job_active` if the run is being submitted, or has a job that is pending, running or in an unknown state. */
  async refuseActive(runId: string): Promise<void> {
    this.refuseSubmitting(runId);
    await this.refuseJob(runId);
  }

  private refuseSubmitting(runId: string): void {
    if (this.submitting.has(runId))
      throw new Failure(
        'job_active',
        `Run ${runId} is being submitted to a cluster.`,
        'Wait until it has been submitted.',
      );
  }

  private async refuseJob(runId: string): Promise<void> {
    const [job] = await this.jobs.list([runId]);
    if (job && job.phase !== 'ended') throw jobActive(runId, job);
  }

  /** Throws `run_not_submitted`, or an error of {@link runSlurm}. */
  async act(runId: string, action: JobAction): Promise<void> {
    if (action === 'cancel') return this.cancel([runId]);
    // uhold: the user may release it.
    await this.run('scontrol', [action === 'hold' ? 'uhold' : action, this.requireJob(runId)]);
    this.jobs.expire();
  }

  /** Cancels the jobs of runs. Throws as {@link act} does. */
  async cancel(runIds: readonly string[]): Promise<void> {
    await this.run(
      'scancel',
      runIds.map((runId) => this.requireJob(runId)),
    );
    this.jobs.expire();
  }

  async setNice(runId: string, nice: number): Promise<void> {
    await this.run('scontrol', ['update', `JobId=${this.requireJob(runId)}`, `Nice=${nice}`]);
    this.jobs.expire();
  }

  private folder(runId: string): string {
    return runFolder(this.parts.home, runId);
  }

  private scriptOf(job: Job, target: string): string {
    return slurmScript(job, this.targets.get(target), this.parts.trainer.path);
  }

  private arrayOf(study: string, runIds: readonly string[], target: string) {
    const folder = join(this.parts.home, 'jobs', study);
    const { simultaneous } = this.targets.get(target);
    return { study, folder, runs: runIds.map((runId) => this.folder(runId)), simultaneous };
  }

  private requireJob(runId: string): string {
    const file = readJobFile(this.folder(runId));
    if (file?.job) return file.job;
    if (!file) throw notSubmitted(runId);
    throw new Failure(
      'job_unknown',
      `The id of the job of run ${runId} is not known yet.`,
      `See the job with \`starpo cluster show ${runId}\`, then try again.`,
    );
  }

  /** Submits runs, which can be neither started nor submitted again until `submit` has finished. Throws `job_active`. */
  private async whileSubmitting(runIds: readonly string[], submit: () => Promise<string>): Promise<string> {
    for (const runId of runIds) this.refuseSubmitting(runId);
    for (const runId of runIds) this.submitting.add(runId);
    try {
      for (const runId of runIds) await this.refuseJob(runId);
      return await submit();
    } finally {
      for (const runId of runIds) this.submitting.delete(runId);
    }
  }

  /** Saves a script in a folder and submits it. `study`: the sweep of the runs, which are the tasks of an array; null for a single run. */
  private async submitScript(
    runIds: readonly string[],
    target: string,
    script: string,
    cwd: string,
    study: string | null,
  ): Promise<string> {
    await this.test(script);
    const path = join(cwd, 'slurm.sh');
    writeFileSync(path, script);
    const submitted = Date.now();
    const earlier = runIds.map((runId) => readJobFile(this.folder(runId)));
    const write = (id: string | null) => {
      for (const [index, runId] of runIds.entries()) {
        const job = study === null || id === null ? id : `${id}_${index}`;
        const task = study === null ? undefined : { study, index };
        writeJobFile(this.folder(runId), { target, job, submitted, task });
      }
    };
    // If this process exits before it receives the id, {@link JobStates} finds the job by its name.
    write(null);
    try {
      const { variables } = this.parts.trainer;
      const id = readId(await this.run('sbatch', ['--parsable', path], { cwd, env: variables }));
      write(id);
      this.jobs.expire();
      await this.refuseImpossible(id);
      return id;
    } catch (error) {
      // Otherwise Slurm may have accepted the job.
      if (['slurm_refused', 'slurm_missing', 'job_never_runs'].includes(asFailure(error).code))
        for (const [index, runId] of runIds.entries()) this.restore(runId, earlier[index] ?? null);
      throw error;
    }
  }

  /** Restores launch.json of a run that was not submitted. */
  private restore(runId: string, earlier: JobFile | null): void {
    if (earlier) writeJobFile(this.folder(runId), earlier);
    else rmSync(jobFilePath(this.folder(runId)), { force: true });
  }

  /** Cancels a job that Slurm has accepted although it can never run, and throws `job_never_runs`. */
  private async refuseImpossible(id: string): Promise<void> {
    const text = await this.run('squeue', ['-h', '-j', id, '-o', queueFormat]).catch(() => '');
    const reason = parseQueue(text).map(whyImpossible).find(Boolean);
    if (!reason) return;
    await this.run('scancel', [id]);
    throw new Failure(
      'job_never_runs',
      `Job ${id} ${reason}. It was canceled.`,
      'Correct the settings of the cluster, in the app or in targets.json.',
    );
  }
}

/** Reports that a run can't be started, because it has a job that has not ended. */
export const jobActive = (runId: string, { job, target, text, phase }: RunJob): Failure =>
  new Failure(
    'job_active',
    sentence(`Run ${runId} has a job on ${target}${job && ` (${job})`}, which ${text}`),
    phase === 'unknown'
      ? 'Try again on a login node of the cluster when Slurm answers. If you are sure that the run has no job, delete launch.json from its folder.'
      : `Cancel the job first, on the page of the run or with \`starpo cluster cancel ${runId}\`.`,
  );

/** Returns the id that `sbatch --parsable` has printed as `ID` or `ID;CLUSTER`; sites may print more. Throws `job_unknown`. */
function readId(output: string): string {
  const id = /^(\d+)(;.*)?$/m.exec(output)?.[1];
  if (id) return id;
  throw new Failure(
    'job_unknown',
    `sbatch printed no job id: ${output.trim().slice(0, 200)}`,
    'Slurm may have accepted the job. Check with `squeue --me` before you submit again.',
  );
}

function refuseChanged(script: string, shown: string): void {
  if (shown !== script)
    throw new Failure(
      'script_changed',
      'The batch script has changed since it was shown.',
      'Read the new script, then submit again.',
    );
}
