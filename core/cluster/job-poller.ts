import { access, readdir } from 'node:fs/promises';
import { Coalescer } from '../base/coalescer.ts';
import type { RunJob } from '../contract/cluster-job.ts';
import { messageOf } from '../contract/failure.ts';
import { runFolder, runsFolder } from '../run-directory/names.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import { jobFilePath } from './job-file.ts';
import { type JobStates, type SlurmOptions, slurmInterval } from './job-states.ts';

interface PollerParts {
  home: string;
  states: Pick<JobStates, 'close' | 'expire' | 'list'>;
  /** The newest job of each run, for summaries. */
  jobs: Map<string, RunJob>;
  supervisor: Pick<Supervisor, 'publishSummaries'>;
  log: (message: string) => void;
  slurm?: SlurmOptions | undefined;
}

/** Delay in ms of a second read after the user has changed a job, because Slurm applies changes with a delay. */
const settleTime = 3000;

/** Time in ms for which the poller follows a job after its end, because it can be requeued outside the app. Equals Slurm's default MinJobAge. */
const requeueTime = 5 * 60_000;

interface FollowedJob {
  /** Time in ms since the epoch at which the job ended; null if it had not ended at the last read. */
  ended: number | null;
}

/** Follows the jobs of all runs, and publishes changes in the summaries of the runs. */
export class JobPoller {
  private readonly parts: PollerParts;
  /** The jobs of the followed runs. Each change by the user replaces the object. */
  private readonly followed = new Map<string, FollowedJob>();
  private readonly reads = new Coalescer(() => this.read());
  private timer: NodeJS.Timeout | null = null;
  private working = false;

  constructor(parts: PollerParts) {
    this.parts = parts;
  }

  /** Reads the job of every run that was submitted, and follows those that have not ended. */
  work(): void {
    this.working = true;
    submittedRuns(this.parts.home).then((runIds) => this.follow(runIds), this.report);
  }

  /** Must be called after the user has submitted runs or changed their jobs. Does nothing before {@link work}. */
  changed(runIds: readonly string[]): void {
    this.follow(runIds, Math.min(settleTime, this.interval));
  }

  /** Cancels the request in progress. */
  async close(): Promise<void> {
    this.working = false;
    if (this.timer) clearTimeout(this.timer);
    this.parts.states.close();
    await this.reads.settled();
  }

  private get interval(): number {
    return this.parts.slurm?.interval ?? slurmInterval;
  }

  private follow(runIds: readonly string[], next = this.interval): void {
    if (!this.working) return;
    for (const runId of runIds) this.followed.set(runId, { ended: null });
    this.reads.request().catch(this.report);
    this.wait(next);
  }

  /** Schedules the next read, which is skipped if no run is followed. */
  private wait(time: number): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.followed.size === 0) return;
      // The last request is about as old as the interval, so that its answer might be used again.
      this.parts.states.expire();
      this.follow([]);
    }, time);
  }

  private async read(): Promise<void> {
    const { jobs, states, supervisor } = this.parts;
    for (const [runId, followed] of [...this.followed]) {
      const [found] = await states.list([runId]);
      // The request was canceled.
      if (!this.working) return;
      // The user has changed the job since, for example submitted the run again. The next read follows.
      if (this.followed.get(runId) !== followed) continue;
      // A job that had ended at its first read may have ended long ago.
      const firstSeen = jobs.has(runId) ? Date.now() : 0;
      followed.ended = found?.phase === 'ended' ? (followed.ended ?? firstSeen) : null;
      const cannotReturn = followed.ended !== null && Date.now() - followed.ended > requeueTime;
      if (!found || cannotReturn) this.followed.delete(runId);
      const { run: _, ...job } = found ?? { run: runId };
      if (JSON.stringify(jobs.get(runId)) === JSON.stringify(found && job)) continue;
      if (found) jobs.set(runId, job as RunJob);
      else jobs.delete(runId);
      supervisor.publishSummaries([runId]);
    }
  }

  private report = (error: unknown) => this.parts.log(`Can't read the jobs: ${messageOf(error)}`);
}

/** Returns the runs that were submitted to a cluster. */
async function submittedRuns(home: string): Promise<string[]> {
  const submitted: string[] = [];
  for (const runId of await readdir(runsFolder(home)).catch(() => []))
    await access(jobFilePath(runFolder(home, runId))).then(
      () => submitted.push(runId),
      () => {},
    );
  return submitted;
}
