import { z } from 'zod';
import { runSummary } from './runs.ts';

/** The id of the sample run: no run of one's own has it, and procedures that read a run take it like any other. */
export const sampleRunId = 'sample-run';

/** A finished run that ships with the app, so that a new user has something to watch. It is in no list and is read-only. */
export const sample = z.object({
  summary: runSummary,
  /** Commit of the trainer that made it. */
  build: z.string().nullable(),
});
export type Sample = z.infer<typeof sample>;

export const sampleProcedures = {
  /** Null where none ships, or it can't be opened. */
  'sample.get': { input: z.object({}), output: sample.nullable() },
} as const;
