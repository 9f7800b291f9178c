import { z } from 'zod';
import { apiError, runId } from './runs.ts';

/** A long operation of the server, with progress. */
export const task = z.object({
  id: z.string(),
  /** `ingest`, `rebuild`, `evaluation`, ... */
  kind: z.string(),
  /** The run it concerns; null for all. */
  runId: runId.nullable(),
  title: z.string(),
  state: z.enum(['running', 'done', 'failed', 'canceled']),
  done: z.int(),
  /** 0 if unknown. */
  total: z.int(),
  etaSeconds: z.number().nullable(),
  cancelable: z.boolean(),
  failure: apiError.nullable(),
});
export type Task = z.infer<typeof task>;
