import { z } from 'zod';
import { apiError, metrics } from './runs.ts';

export const evaluationName = z.string().regex(/^[a-z0-9-]{1,64}$/);

/** An evaluation of a checkpoint that was asked for: docs/formats/evaluation.md, or one that is under way. */
export const evaluation = z.object({
  name: evaluationName,
  state: z.enum(['running', 'done', 'failed', 'cancelled']),
  /** ms since the epoch: of its end, or of its start while it runs. */
  time: z.number(),
  checkpoint: z.number().int(),
  label: z.string(),
  environment: z.string().describe('environment type'),
  levels: z.number().int(),
  temperature: z.number(),
  /** Of the first level. */
  seed: z.number().int(),
  /** What differs from the run's own evaluation of the environment, as `size=6`; empty: the same levels with the same luck. */
  changes: z.array(z.string()),
  /** Episodes that have ended. */
  done: z.number().int(),
  etaSeconds: z.number().nullable(),
  /** success_rate, success_rate_low and success_rate_high (95 %), reward_mean, ...; null until it is done. */
  metrics: metrics.nullable(),
  failure: apiError.nullable(),
});
export type Evaluation = z.infer<typeof evaluation>;

/** What can be evaluated: checkpoints that hold weights, newest first; environments with the run's own first. */
export const evaluationChoices = z.object({
  checkpoints: z.array(z.number().int()),
  environments: z.array(
    z.object({
      on: z.string(),
      type: z.string(),
      own: z.boolean(),
      config: z.record(z.string(), z.unknown()),
    }),
  ),
  levels: z.number().int(),
  temperature: z.number(),
  seed: z.number().int(),
});
export type EvaluationChoices = z.infer<typeof evaluationChoices>;
