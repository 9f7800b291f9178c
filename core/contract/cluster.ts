import { z } from 'zod';
import { jobAttempt, jobLog, runJob, targetName } from './cluster-job.ts';
import { slurmTarget } from './cluster-targets.ts';
import { settings } from './configuration.ts';
import { apiError, runId, runSource, studyId } from './runs.ts';

/** A cluster to which runs are submitted, as described in targets.json. */
const clusterTarget = z.object({
  name: targetName,
  /** The main settings in words. */
  summary: z.string(),
  settings: slurmTarget,
});
export type ClusterTarget = z.infer<typeof clusterTarget>;

/** The price of jobs. */
const jobPrice = z.object({
  jobs: z.int(),
  /** Maximum number of jobs that run at once. */
  atOnce: z.int(),
  /** Maximum hours of GPUs or CPUs per attempt of all jobs. */
  hours: z.number(),
  unit: z.enum(['GPU', 'CPU']),
  /** Duration of all jobs at the speed of this machine, if they start at once; null if unknown. */
  seconds: z.number().nullable(),
});
export type JobPrice = z.infer<typeof jobPrice>;

/** The jobs of a submission: one for each run, an array for the runs of a sweep, or one for a run that does not exist yet. */
const plannedJobs = z.union([
  z.object({ runIds: z.array(runId).min(1).max(2000) }),
  z.object({ studyId }),
  z.object({ newRun: z.object({ set: settings.optional() }).and(runSource) }),
]);
export type PlannedJobs = z.infer<typeof plannedJobs>;

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
  /** Returns whether and when a job on a target could start, in words. Submits nothing. */
  'cluster.check': { input: z.object({ target }), output: z.object({ answer: z.string() }) },
  /** Returns the script that `cluster.submit` would submit. */
  'cluster.script': { input: z.object({ runId, target }), output: z.object({ script: z.string() }) },
  /** Adds or replaces a target. `was`: its current name. Throws `target_exists` or `targets_invalid`. */
  'cluster.saveTarget': {
    changes,
    input: z.object({ name: targetName, was: targetName.optional(), settings: slurmTarget }),
    output: empty,
  },
  'cluster.removeTarget': { changes, input: z.object({ name: targetName }), output: empty },
  /**
   * Returns the script of the first run, the price of the jobs, and whether and when they could start. Creates and submits nothing. Throws `target_unknown`, `targets_invalid`, or an error of the runs.
   */
  'cluster.plan': {
    input: z.object({ target, jobs: plannedJobs }),
    output: z.object({
      /** The id for `runs.create` of a new run; else null. */
      runId: runId.nullable(),
      script: z.string(),
      price: jobPrice,
      /** When the jobs could start, in words; null if they can't, for the reason in `problem`. */
      start: z.string().nullable(),
      problem: apiError.nullable(),
    }),
  },
  /**
   * Checks that the job of a run can run, submits it, and removes the run from the queue. `script`: the script that the user was shown, for the run `scriptOf`
   * if not for this one. Throws `run_active`, an error of `runs.start`, `target_unknown`, `targets_invalid`, `job_active`, `job_never_runs`, `job_unknown`, `script_changed`,
   * `slurm_missing`, `slurm_refused` or `slurm_unreachable`.
   */
  'cluster.submit': {
    changes,
    input: z.object({ runId, target, script: z.string().optional(), scriptOf: runId.optional() }),
    output: z.object({ job: z.string() }),
  },
  /** Lists the newest job of each run that was submitted, oldest first. */
  'cluster.jobs': { input: empty, output: z.array(clusterJob) },
  /** Returns the newest job of a run with all attempts, and the last lines of its logs if it failed. Throws `run_not_submitted`. */
  'cluster.job': {
    input: z.object({ runId }),
    output: z.object({ job: clusterJob, attempts: z.array(jobAttempt), logs: z.array(jobLog) }),
  },
  'cluster.act': { changes, input: z.object({ runId, action: jobAction }), output: empty },
  /** Sets a pending job's Nice value: jobs with larger values start later. */
  'cluster.nice': {
    changes,
    input: z.object({ runId, nice: z.int().min(0).max(100_000) }),
    output: empty,
  },
} as const;

export const clusterNotices = {
  /** The app has changed targets.json. */
  targets: empty,
} as const;
