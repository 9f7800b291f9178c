import { z } from 'zod';
import { jobAttempt, jobLog, runJob, targetName } from './cluster-job.ts';
import { apiError, runId } from './runs.ts';

/** A cluster to which runs are sent, without its settings. */
const clusterTarget = z.object({
  name: targetName,
  /** The main settings in words. */
  summary: z.string(),
});

/** The newest job of a run on a cluster. */
const clusterJob = runJob.extend({ run: runId });
export type ClusterJob = z.infer<typeof clusterJob>;

const jobAction = z.enum(['cancel', 'hold', 'release', 'requeue']);
export type JobAction = z.infer<typeof jobAction>;

const target = targetName;
const empty = z.object({});
const changes = true;

export const clusterProcedures = {
  /** Lists the targets of targets.json (docs/formats/targets.md). `problem`: why the file is invalid. */
  'cluster.targets': {
    input: empty,
    output: z.object({ targets: z.array(clusterTarget), problem: apiError.nullable() }),
  },
  /** Asks the cluster whether and when a job of a target could run, and returns its answer. Sends no job. */
  'cluster.check': { input: z.object({ target }), output: z.object({ answer: z.string() }) },
  /** Returns the script that `cluster.submit` would send. */
  'cluster.script': { input: z.object({ runId, target }), output: z.object({ script: z.string() }) },
  /** Sends a run as a job, after checking that it can run. Removes it from the queue. Throws `job_active`, `job_never_runs`, `slurm_refused` or `slurm_unreachable`. */
  'cluster.submit': { changes, input: z.object({ runId, target }), output: z.object({ job: z.string() }) },
  /** Lists the newest job of each run that was sent, oldest first. */
  'cluster.jobs': { input: empty, output: z.array(clusterJob) },
  /** Returns the newest job of a run with all attempts, and the last lines of its logs if it failed. Throws `run_not_sent`. */
  'cluster.job': {
    input: z.object({ runId }),
    output: z.object({ job: clusterJob, attempts: z.array(jobAttempt), logs: z.array(jobLog) }),
  },
  'cluster.act': { changes, input: z.object({ runId, action: jobAction }), output: empty },
  /** Sets a pending job's Nice value: jobs with larger values start later. */
  'cluster.nice': {
    changes,
    input: z.object({ runId, nice: z.number().int().min(0).max(100_000) }),
    output: empty,
  },
} as const;
