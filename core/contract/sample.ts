import { z } from 'zod';
import { runSummary } from './runs.ts';

/** Id of the sample run. Procedures that read a run accept it like any other id; no other run has it. */
export const sampleRunId = 'sample-run';

/** A completed run shipped with the app, so that new users can replay one. It is not listed and is read-only. */
export const sample = z.object({ summary: runSummary });
export type Sample = z.infer<typeof sample>;

export const sampleProcedures = {
  /** Returns null if it is missing or can't be opened. */
  'sample.get': { input: z.object({}), output: sample.nullable() },
} as const;
