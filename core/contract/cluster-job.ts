import { z } from 'zod';

export const targetName = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 lowercase letters, digits and hyphens');

/** Phase of a job. `unknown`: the cluster did not answer. */
const jobPhase = z.enum(['pending', 'running', 'ended', 'unknown']);

/** The newest job of a run on a cluster, as of the last request to the cluster. */
export const runJob = z.object({
  target: targetName,
  /** Slurm's id, such as `123` or `123_4`; empty if it is unknown. */
  job: z.string(),
  phase: jobPhase,
  /** Slurm's state; empty if it is unknown. */
  state: z.string(),
  /** State and reason in words, and for a failed job the last line of its log. */
  text: z.string(),
  /** Whether the job can never run as requested. */
  impossible: z.boolean(),
  /** Whether the user holds the job. */
  held: z.boolean(),
  /** Whether the job ended without success and was not canceled. */
  failed: z.boolean(),
  /** Nice value of a pending job: jobs with larger values start later; null if unknown. */
  nice: z.int().nullable(),
  /** Time at which the time limit ends the attempt, in ms since the epoch; null unless the job is running with a limit. */
  limit: z.number().nullable(),
  /** Number of attempts so far. */
  attempts: z.int(),
  /** ms since the epoch. */
  submitted: z.number(),
});
export type RunJob = z.infer<typeof runJob>;

/** An attempt of a job, as recorded in attempts.jsonl. */
export const jobAttempt = z.object({
  job: z.string(),
  /** Number of requeues before it. */
  restart: z.int(),
  node: z.string(),
  /** ms since the epoch. `ended` is null while the attempt is running, or if its node failed. */
  began: z.number(),
  ended: z.number().nullable(),
  /** Exit status of the trainer; null until it has ended. */
  code: z.int().nullable(),
});
export type JobAttempt = z.infer<typeof jobAttempt>;

/** The last lines of a log of a job. */
export const jobLog = z.object({ name: z.string(), lines: z.array(z.string()) });
export type JobLog = z.infer<typeof jobLog>;
