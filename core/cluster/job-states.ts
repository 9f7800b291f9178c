import { userInfo } from 'node:os';
import type { ClusterJob } from '../contract/cluster.ts';
import type { JobAttempt, JobLog } from '../contract/cluster-job.ts';
import { asFailure, Failure, ignoring } from '../contract/failure.ts';
import { runFolder } from '../run-directory/names.ts';
import { type JobFile, readJobFile, writeJobFile } from './job-file.ts';
import { jobLogs, readAttempts } from './job-logs.ts';
import { describeJob, endedJob, unknownJob } from './job-words.ts';
import { jobName } from './script.ts';
import { endedSlurmJob, parseAccounting, parseJob, parseQueue, queueFormat, runSlurm, type SlurmJob } from './slurm.ts';

/** Default of {@link SlurmOptions.interval} in ms. Many sites forbid frequent requests. */
export const slurmInterval = 15_000;

/** Replaces the programs of Slurm and the interval in tests. */
export interface SlurmOptions {
  /** Runs a program of Slurm and returns its output. */
  run?: typeof runSlurm;
  /** Minimum time in ms between two requests for the states of all jobs, also if they fail. */
  interval?: number;
}

/** Reads the states of the jobs of runs. */
export class JobStates {
  private readonly home: string;
  private readonly options: SlurmOptions;
  private queue: { jobs: Promise<Map<string, SlurmJob>>; time: number } | null = null;
  private readonly closing = new AbortController();

  constructor(home: string, options: SlurmOptions = {}) {
    this.home = home;
    this.options = options;
  }

  /** Returns the newest job of each of the given runs that was submitted. The state is unknown if the controller does not answer. */
  async list(runIds: readonly string[]): Promise<ClusterJob[]> {
    const submitted = runIds.flatMap((run) => {
      const file = readJobFile(this.folder(run));
      return file ? [{ run, file }] : [];
    });
    const jobs: ClusterJob[] = [];
    for (const { run, file } of submitted) jobs.push(await this.stateOf(run, file));
    return jobs;
  }

  /** Returns the newest job of a run with all attempts, and the ends of its logs if it failed. Throws `run_not_submitted`. */
  async details(runId: string): Promise<{ job: ClusterJob; attempts: JobAttempt[]; logs: JobLog[] }> {
    const file = readJobFile(this.folder(runId));
    if (!file) throw notSubmitted(runId);
    const job = await this.stateOf(runId, file);
    const attempts = await readAttempts(this.folder(runId));
    return { job, attempts, logs: job.failed ? await jobLogs(this.home, runId, file) : [] };
  }

  /** Marks all job states as stale: the next read queries Slurm for all of them. */
  expire(): void {
    this.queue = null;
  }

  /** Cancels the requests for states: if Slurm's controller is unreachable, one takes up to half a minute. Jobs are still submitted. */
  close(): void {
    this.closing.abort();
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

  /**
   * Changes launch.json of a run, unless the run was submitted again since it was read. Does nothing in a folder without
   * space or write access: the next read queries Slurm again.
   */
  private update(runId: string, job: string | null, change: Partial<JobFile>): void {
    const file = readJobFile(this.folder(runId));
    if (file?.job !== job) return;
    try {
      writeJobFile(this.folder(runId), { ...file, ...change });
    } catch (error) {
      ignoring('disk_full', 'disk_read_only', 'file_forbidden')(error);
    }
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
    const [log] = await jobLogs(this.home, run, file);
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
      this.update(run, job, { ended: { state, exitCode } });
    }
    return found;
  }

  /** Runs a program that changes nothing. */
  private ask(program: string, args: readonly string[]): Promise<string> {
    return (this.options.run ?? runSlurm)(program, args, { signal: this.closing.signal });
  }

  /** Reads all jobs of the user at once. */
  private readQueue(): Promise<Map<string, SlurmJob>> {
    if (!this.queue || Date.now() - this.queue.time > (this.options.interval ?? slurmInterval)) {
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

  private folder(runId: string): string {
    return runFolder(this.home, runId);
  }
}

const ofUser = () => `--user=${userInfo().username}`;

export const notSubmitted = (runId: string) =>
  new Failure('run_not_submitted', `Run ${runId} has no job on a cluster.`, 'List jobs with `starpo cluster jobs`.');
