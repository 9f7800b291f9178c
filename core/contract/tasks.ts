import { z } from 'zod';
import { apiError, runId } from './runs.ts';

/** Long work that core does beside answering: it comes further, can be given up, and ends. */
export const task = z.object({
  id: z.string(),
  /** `take_in`, `rebuild`, `evaluation`, ... */
  kind: z.string(),
  /** The run that it is about; null: all. */
  runId: runId.nullable(),
  title: z.string(),
  state: z.enum(['running', 'done', 'failed', 'cancelled']),
  done: z.number().int(),
  /** 0 while unknown. */
  total: z.number().int(),
  etaSeconds: z.number().nullable(),
  startedAt: z.number().describe('ms since the epoch'),
  cancellable: z.boolean(),
  failure: apiError.nullable(),
});
export type Task = z.infer<typeof task>;
