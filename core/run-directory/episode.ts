import { z } from 'zod';
import { episodeSummary } from '../contract/episodes.ts';

/** One episode of a rollout file, as docs/formats/rollouts.md describes it; unknown keys are ignored. */

/** Beside these it holds what else its environment says of the action, by name, true or false. */
const executed = z.looseObject({
  action: z.string(),
  reward: z.number(),
  board: z.string(),
  effective: z.boolean(),
  valid: z.boolean(),
  slipped: z.boolean().default(false),
  done: z.boolean(),
  success: z.boolean(),
  /** Absent in files of trainers that didn't look for dead ends. */
  dead_end: z.boolean().default(false),
});

/** base64 of little-endian arrays, one entry a sampled token. */
const tokens = z.object({
  ids: z.string(),
  logprobs: z.string(),
  entropies: z.string(),
  advantages: z.string().optional(),
  values: z.string().optional(),
  trained: z.string(),
});

const step = z.object({
  state: z.string(),
  response: z.string(),
  think: z.string().nullable(),
  answer: z.string().nullable(),
  actions: z.array(z.string()),
  format_valid: z.boolean(),
  reward: z.number(),
  penalty: z.number(),
  executed: z.array(executed),
  tokens,
});

export const episode = episodeSummary.extend({
  type: z.string(),
  config: z.record(z.string(), z.unknown()),
  arms: z.array(z.string()).nullish(),
  initial: z.string(),
  prompt_text: z.string(),
  steps: z.array(step),
});

export type Episode = z.infer<typeof episode>;
export type EpisodeStep = Episode['steps'][number];
type Executed = EpisodeStep['executed'][number];

/** What an action's environment says of it beside what every environment does: the names of what holds. */
export const ownFacts = (outcome: Executed): string[] =>
  Object.keys(outcome).filter((name) => !(name in executed.shape) && outcome[name] === true);
