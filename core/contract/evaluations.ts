import { z } from 'zod';
import { apiError, metrics } from './runs.ts';

export const evaluationName = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 lowercase letters, digits and hyphens');

/** `evaluation.temperature`, and `top_p`, `top_k` and `min_p` of `rollout`. */
const sampling = { temperature: z.number(), topP: z.number(), topK: z.int(), minP: z.number() };

/** An evaluation of a checkpoint on request, running or finished (docs/formats/evaluation.md). */
export const evaluation = z.object({
  name: evaluationName,
  state: z.enum(['running', 'done', 'failed', 'canceled']),
  /** End time in ms since the epoch; while it runs, its start time. */
  time: z.number(),
  checkpoint: z.int(),
  label: z.string(),
  environment: z.string().describe('environment type'),
  levels: z.int(),
  ...sampling,
  /** Seed of the first level. */
  seed: z.int(),
  /** Hash of the file of its levels (docs/formats/panels.md); null until done, and for results of earlier trainers. */
  panel: z.string().nullable(),
  /** Differences from the run's own evaluation of the environment, such as `size=6`. Empty means the same levels with the same random numbers. */
  changes: z.array(z.string()),
  /** Number of finished episodes. */
  done: z.int(),
  etaSeconds: z.number().nullable(),
  /** success_rate, success_rate_low and success_rate_high (95 %), reward_mean, ...; null until done. */
  metrics: metrics.nullable(),
  /** For example about void episodes; absent if there are none. */
  warnings: z.array(z.string()).optional(),
  failure: apiError.nullable(),
});
export type Evaluation = z.infer<typeof evaluation>;

/** Options for an evaluation: checkpoints with weights, newest first, and environments, the run's own first. */
export const evaluationChoices = z.object({
  checkpoints: z.array(z.int()),
  environments: z.array(
    z.object({
      on: z.string(),
      type: z.string(),
      own: z.boolean(),
      config: z.record(z.string(), z.unknown()),
    }),
  ),
  levels: z.int(),
  ...sampling,
  seed: z.int(),
});
export type EvaluationChoices = z.infer<typeof evaluationChoices>;
