import { z } from 'zod';
import { episodeSummary } from '../contract/episodes.ts';

/** One episode of a rollout file (docs/formats/rollouts.md). Unknown keys are ignored. */

/** May also have boolean facts from the environment, by name. */
const executed = z.looseObject({
  action: z.string(),
  reward: z.number(),
  board: z.string(),
  effective: z.boolean(),
  valid: z.boolean(),
  slipped: z.boolean().default(false),
  done: z.boolean(),
  success: z.boolean(),
  /** False if absent. */
  dead_end: z.boolean().default(false),
});

/** Little-endian arrays in base64, one entry per sampled token. */
const tokens = z.object({
  ids: z.string(),
  logprobs: z.string(),
  entropies: z.string(),
  advantages: z.string().optional(),
  values: z.string().optional(),
  trained: z.string(),
});

/** The number of checked claims of the reasoning, and the false ones. `start` and `end` count characters (code points) of `think`. */
const claims = z.object({
  checked: z.int(),
  false: z.array(z.object({ start: z.int(), end: z.int(), kind: z.string(), fact: z.string() })),
});

/** A turn without its tokens. */
export const episodeTurn = z.object({
  state: z.string(),
  response: z.string(),
  think: z.string().nullable(),
  answer: z.string().nullable(),
  actions: z.array(z.string()),
  format_valid: z.boolean(),
  reward: z.number(),
  penalty: z.number(),
  /** Weighted reward terms by name; their sum is the turn's part of the score. Absent in older files. */
  terms: z.record(z.string(), z.number()).optional(),
  /** Tokens of the state that the model didn't read (`max_state_tokens`). */
  omitted_tokens: z.int().default(0),
  /** Absent in older files, without reasoning, and for environments without rules. */
  claims: claims.optional(),
  executed: z.array(executed),
});

export const episode = episodeSummary.extend({
  type: z.string(),
  config: z.record(z.string(), z.unknown()),
  arms: z.array(z.string()).nullish(),
  initial: z.string(),
  prompt_text: z.string(),
  steps: z.array(
    episodeTurn.extend({
      tokens,
      /** Whether the turn's context replaced all earlier tokens. Absent in files of earlier releases. */
      begins_context: z.boolean().default(false),
    }),
  ),
});

export type Episode = z.infer<typeof episode>;
export type EpisodeStep = Episode['steps'][number];
export type ExecutedAction = z.infer<typeof executed>;
/** The keys of an episode that its frames depend on. */
export type EpisodeActions = Pick<Episode, 'type' | 'initial'> & {
  steps: readonly Pick<EpisodeStep, 'executed' | 'penalty' | 'terms'>[];
};

/** Returns the names of the environment's own facts that are true for an action. */
export const ownFacts = (outcome: ExecutedAction): string[] =>
  Object.keys(outcome).filter((name) => !(name in executed.shape) && outcome[name] === true);
