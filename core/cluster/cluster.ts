import { rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureFolder } from '../base/folders.ts';
import type { ClusterJob, JobAction } from '../contract/cluster.ts';
import type { JobAttempt, JobLog, RunJob } from '../contract/cluster-job.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';
import { runFolder } from '../run-directory/names.ts';
import { type JobFile, jobFilePath, readJobFile, writeJobFile } from './job-file.ts';
import { jobLogs, readAttempts } from './job-logs.ts';
import { describeJob, describeTest, endedJob, unknownJob, whyImpossible } from './job-words.ts';
import { type Job, jobName, slurmScript } from './script.ts';
import { endedSlurmJob, parseAccounting, parseJob, parseQueue, queueFormat, runSlurm, type SlurmJob } from './slurm.ts';
import { Targets } from './targets.ts';

/** A batch script that the user was shown, and its run. The scripts of other runs differ only in the run. */
export interface ShownScript {
  text: string;
  run: string;
}

/** Default of {@link SlurmOptions.interval} in ms. Many sites forbid frequent requests. */
export const slurmInterval = 15_000;

/** Replaces the programs of Slurm and the interval in tests. */
export interface SlurmOptions {
  /** Runs a program of Slurm and returns its output. */
  run?: typeof runSlurm;
  /** Minimum time in ms between two requests for the states of all jobs, also if they fail. */
  interval?: number;
}

interface ClusterParts {
  home: string;
  /** Path of the app's trainer, and the environment variables that it needs. */
  trainer: { path: string; variables: NodeJS.ProcessEnv };
  slurm?: SlurmOptions | undefined;
}

/** Submits runs to a Slurm cluster whose nodes have access to the data folder, and reads the states of their jobs. */
export class Cluster {
  readonly targets: Targets;
  private readonly parts: ClusterParts;
  private readonly run: typeof runSlurm;
  private queue: { jobs: Promise<Map<string, SlurmJob>>; time: number } | null = null;
  /** Runs that are being submitted. */
  private readonly submitting = new Set<string>();
  private readonly closing = new AbortController();

  constructor(parts: ClusterParts) {
    this.parts = parts;
    this.run = parts.slurm?.run ?? runSlurm;
    this.targets = new Targets(parts.home);
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

  /** Returns the newest job of each of the given runs that was submitted. The state is unknown if the controller does not answer. */
  async jobs(runIds: readonly string[]): Promise<ClusterJob[]> {
    const submitted = runIds.flatMap((run) => {
      const file = readJobFile(this.folder(run));
      return file ? [{ run, file }] : [];
    });
    const jobs: ClusterJob[] = [];
    for (const { run, file } of submitted) jobs.push(await this.stateOf(run, file));
    return jobs;
  }

  /** Returns the newest job of a run with all attempts, and the ends of its logs if it failed. Throws `run_not_submitted`. */
  async job(runId: string): Promise<{ job: ClusterJob; attempts: JobAttempt[]; logs: JobLog[] }> {
    const file = readJobFile(this.folder(runId));
    if (!file) throw notSubmitted(runId);
    const job = await this.stateOf(runId, file);
    const attempts = await readAttempts(this.folder(runId));
    return { job, attempts, logs: job.failed ? await jobLogs(this.parts.home, runId, file) : [] };
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
    const file = readJobFile(this.folder(runId));
    if (!file) return;
    const job = await this.stateOf(runId, file);
    if (job.phase !== 'ended') throw jobActive(runId, job);
  }

  /** Throws `run_not_submitted`, or an error of {@link runSlurm}. */
  async act(runId: string, action: JobAction): Promise<void> {
    if (action === 'cancel') return this.cancel([runId]);
    // uhold: the user may release it.
    await this.run('scontrol', [action === 'hold' ? 'uhold' : action, this.requireJob(runId)]);
    this.expire();
  }

  /** Cancels the jobs of runs. Throws as {@link act} does. */
  async cancel(runIds: readonly string[]): Promise<void> {
    await this.run(
      'scancel',
      runIds.map((runId) => this.requireJob(runId)),
    );
    this.expire();
  }

  async setNice(runId: string, nice: number): Promise<void> {
    await this.run('scontrol', ['update', `JobId=${this.requireJob(runId)}`, `Nice=${nice}`]);
    this.expire();
  }

  /** Requests the states of all jobs when one is next read. */
  expire(): void {
    this.queue = null;
  }

  /** Cancels the requests for states, which take up to half a minute without the controller. Jobs are still submitted. */
  close(): void {
    this.closing.abort();
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
    const job = readJobFile(this.folder(runId))?.job;
    if (job) return job;
    throw notSubmitted(runId);
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
    // If this process exits before it receives the id, `adopt` finds the job by its name.
    write(null);
    try {
      const { variables } = this.parts.trainer;
      const id = readId(await this.run('sbatch', ['--parsable', path], { cwd, env: variables }));
      write(id);
      this.expire();
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

  /** Returns the job of a run that was submitted by a process that exited before it received the id. Returns null if there is none. */
  private async adopt(runId: string, file: JobFile): Promise<string | null> {
    const { task } = file;
    const text = await this.ask('squeue', ['-h', '-r', ofUser(), '-n', jobName(task?.study ?? runId), '-o', '%i']);
    // The newest: an earlier array of the sweep may still run.
    const jobs = text
      .trim()
      .split('\n')
      .sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
    const job = (task ? jobs.find((id) => id.endsWith(`_${task.index}`)) : jobs[0]) || null;
    if (job) this.update(runId, null, { job });
    return job;
  }

  /** Changes launch.json of a run, unless the run was submitted again since it was read. */
  private update(runId: string, job: string | null, change: Partial<JobFile>): void {
    const file = readJobFile(this.folder(runId));
    if (file?.job === job) writeJobFile(this.folder(runId), { ...file, ...change });
  }

  private async stateOf(run: string, file: JobFile): Promise<ClusterJob> {
    const { target, submitted } = file;
    const { job, ...words } = await this.wordsOf(run, file);
    // Read afterwards, because an ended job is not read again.
    const { length: attempts } = await readAttempts(this.folder(run));
    return { run, target, submitted, attempts, job: job ?? '', ...words };
  }

  private async wordsOf(run: string, file: JobFile): Promise<ReturnType<typeof describeJob> & { job: string | null }> {
    const { job } = file;
    try {
      const id = job ?? (await this.adopt(run, file));
      if (!id) return { job, ...endedJob('was not submitted') };
      const found = await this.find(run, id, file);
      if (!found) return { job: id, ...endedJob('ended; Slurm has no record of it') };
      const requeued = found.reason === 'BeginTime' && (await readAttempts(this.folder(run))).length > 0;
      const words = describeJob(found, requeued);
      return { job: id, ...words, text: words.failed ? await this.withReason(words.text, run, file) : words.text };
    } catch (error) {
      return { job, ...unknownJob(asFailure(error).message) };
    }
  }

  /** Adds the last line of the log to the state of a failed job. */
  private async withReason(text: string, run: string, file: JobFile): Promise<string> {
    const [log] = await jobLogs(this.parts.home, run, file);
    return log ? `${text}: ${log.lines.at(-1)!.trim()}` : text;
  }

  /** Returns a job; null if Slurm has no record of it. */
  private async find(run: string, job: string, { ended }: JobFile): Promise<SlurmJob | null> {
    const queue = await this.readQueue().catch((error) => {
      if (ended) return null;
      throw error;
    });
    const queued = queue?.get(job);
    if (queued) {
      // It was requeued outside the app.
      if (ended) this.update(run, job, { ended: undefined });
      return queued;
    }
    if (ended) return endedSlurmJob(job, ended);
    const found = (await this.showJob(job)) ?? (await this.showAccounting(job));
    if (found && describeJob(found).phase === 'ended') {
      const { state, exitCode } = found;
      try {
        this.update(run, job, { ended: { state, exitCode } });
      } catch {
        // On a full or read-only disk, the next read queries Slurm again.
      }
    }
    return found;
  }

  /** Runs a program that changes nothing. */
  private ask(program: string, args: readonly string[]): Promise<string> {
    return this.run(program, args, { signal: this.closing.signal });
  }

  /** Reads all jobs of the user at once. */
  private readQueue(): Promise<Map<string, SlurmJob>> {
    if (!this.queue || Date.now() - this.queue.time > (this.parts.slurm?.interval ?? slurmInterval)) {
      const read = this.ask('squeue', ['-h', '-r', ofUser(), '-o', queueFormat]);
      const jobs = read.then((text) => new Map(parseQueue(text).map((job) => [job.job, job])));
      this.queue = { jobs, time: Date.now() };
    }
    return this.queue.jobs;
  }

  private async showJob(job: string): Promise<SlurmJob | null> {
    const text = await this.ask('scontrol', ['-o', 'show', 'job', job]).catch((error) => {
      if (asFailure(error).code === 'job_unknown') return '';
      throw error;
    });
    return parseJob(text);
  }

  /** Returns null on a cluster without accounting. */
  private async showAccounting(job: string): Promise<SlurmJob | null> {
    const args = ['-X', '-n', '-P', '-j', job, '-o', 'JobID,State,ExitCode'];
    const text = await this.ask('sacct', args).catch(() => '');
    return parseAccounting(text);
  }
}

const ofUser = () => `--user=${userInfo().username}`;

/** Reports that a run can't be started, because it has a job that has not ended. */
export const jobActive = (runId: string, { job, target, text }: RunJob): Failure =>
  new Failure(
    'job_active',
    sentence(`Run ${runId} has a job on ${target}${job && ` (${job})`}, which ${text}`),
    `Cancel the job first, on the page of the run or with \`starpo cluster cancel ${runId}\`.`,
  );

/** Returns the id that `sbatch --parsable` has printed as `ID` or `ID;CLUSTER`; sites may print more. Throws `job_unknown`. */
function readId(output: string): string {
  const id = /^(\d+)(;.*)?$/m.exec(output)?.[1];
  if (id) return id;
  throw new Failure('job_unknown', `sbatch printed no job id: ${output.trim().slice(0, 200)}`, 'See `squeue --me`.');
}

function refuseChanged(script: string, shown: string): void {
  if (shown !== script)
    throw new Failure(
      'script_changed',
      'The batch script has changed since it was shown.',
      'Read the new script, then submit again.',
    );
}

const notSubmitted = (runId: string) =>
  new Failure('run_not_submitted', `Run ${runId} has no job on a cluster.`, 'List jobs with `starpo cluster jobs`.');
