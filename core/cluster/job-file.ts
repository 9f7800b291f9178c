import { join } from 'node:path';
import { z } from 'zod';
import { targetName } from '../contract/cluster-job.ts';
import { studyId } from '../contract/runs.ts';
import { readJsonFile } from '../run-directory/parse-line.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

const jobFile = z.object({
  version: z.literal(1),
  target: targetName,
  /** Null while it is being submitted. */
  job: z
    .string()
    .regex(/^\d+(_\d+)?$/)
    .nullable(),
  /** ms since the epoch */
  submitted: z.number(),
  /** The sweep whose array contains the job, and the index there. */
  task: z.object({ study: studyId, index: z.int() }).optional(),
  /** How the job ended, because Slurm forgets jobs. */
  ended: z.object({ state: z.string(), exitCode: z.string().nullable() }).optional(),
});
export type JobFile = z.infer<typeof jobFile>;

export const jobFilePath = (folder: string) => join(folder, 'launch.json');

/** Reads launch.json of a run folder (docs/formats/targets.md). Returns null if the run was never submitted to a cluster. */
export const readJobFile = (folder: string): JobFile | null => readJsonFile(jobFile, jobFilePath(folder));

export const writeJobFile = (folder: string, file: Omit<JobFile, 'version'>): void =>
  writeWhole(jobFilePath(folder), { version: 1, ...file });
