import { z } from 'zod';
import { evaluationName } from './evaluations.ts';

/** docs/formats/rollouts.md: the head of every episode. */
export const episodeSummary = z.object({
  id: z.string(),
  iteration: z.number().int(),
  split: z.string(),
  environment: z.string(),
  group: z.number().int(),
  member: z.number().int(),
  seed: z.number(),
  reward: z.number(),
  success: z.boolean(),
  /** `done`, `max_turns`, `max_actions`, `context`, or a reason of a newer trainer. */
  ended: z.string(),
  turns: z.number().int(),
  actions: z.number().int(),
  tokens: z.number().int(),
  kept: z.boolean(),
  format_valid: z.boolean(),
});
export type EpisodeSummary = z.infer<typeof episodeSummary>;

/** A rollout file that exists. `split` is `train` or an evaluation set's label. */
export const rolloutFile = z.object({
  iteration: z.number().int(),
  split: z.string(),
  episodes: z.number().int(),
});
export type RolloutFile = z.infer<typeof rolloutFile>;

/**
 * One picture of the replay. `board` is the state as text, often a grid, or null where the environment has none to draw.
 * The first frame of an episode is its initial state (no action).
 */
export const frame = z.object({
  turn: z.number().int(),
  /** Index of the action within the turn; -1 for the state before any. */
  step: z.number().int(),
  action: z.string().nullable(),
  board: z.string().nullable(),
  reward: z.number(),
  /** Reward summed up to and with this frame, penalties of finished turns included. */
  total: z.number(),
  effective: z.boolean(),
  slipped: z.boolean(),
  done: z.boolean(),
  success: z.boolean(),
  /** Success can't be had any more. */
  deadEnd: z.boolean(),
  /** Further facts of the environment about the action, by name. */
  facts: z.array(z.string()),
});
export type Frame = z.infer<typeof frame>;

export const replayTurn = z.object({
  state: z.string(),
  response: z.string(),
  think: z.string().nullable(),
  answer: z.string().nullable(),
  actions: z.array(z.string()),
  formatValid: z.boolean(),
  reward: z.number(),
  penalty: z.number(),
  tokens: z.number().int(),
  /** Mean log-probability and entropy (nats) of the sampled tokens. */
  logprobMean: z.number(),
  entropyMean: z.number(),
});
export type ReplayTurn = z.infer<typeof replayTurn>;

/** An episode made ready to draw: nothing needs to be run to show it. */
export const replay = z.object({
  summary: episodeSummary,
  /** Of the environment; one that this build doesn't know is drawn as text. */
  type: z.string(),
  config: z.record(z.string(), z.unknown()),
  arms: z.array(z.string()).nullable(),
  prompt: z.string(),
  frames: z.array(frame),
  turns: z.array(replayTurn),
});
export type Replay = z.infer<typeof replay>;

/** First thoughts of one iteration: the think block of each episode's first turn, or the whole reply where that has none. */
export const thoughts = z.object({
  iteration: z.number().int(),
  split: z.string(),
  episodes: z.number().int(),
  /** The commonest first. */
  thoughts: z.array(
    z.object({
      text: z.string(),
      count: z.number().int(),
      successes: z.number().int(),
      /** Episodes that began with it, by id. */
      episodes: z.array(z.string()),
    }),
  ),
  /** Why the episodes are missing if only their index is left; null if all are available. */
  missing: z.string().nullable(),
  /** Every iteration whose thoughts can be asked for in this split, in order. */
  iterations: z.array(z.number().int()),
});
export type Thoughts = z.infer<typeof thoughts>;

/**
 * All episodes of a rollout file as boards alone, to be played at once. A board that several episodes saw is there once: `boards` of an episode are places in
 * `boards` of the file, frame by frame as in {@link replay}, -1 where the environment has none to draw.
 */
export const rolloutBoards = z.object({
  iteration: z.number().int(),
  split: z.string(),
  boards: z.array(z.string()),
  episodes: z.array(
    z.object({
      summary: episodeSummary,
      type: z.string(),
      /** Of the environment; the same object for all of its episodes. */
      config: z.record(z.string(), z.unknown()),
      arms: z.array(z.string()).nullable(),
      boards: z.array(z.number().int()),
      actions: z.array(z.string().nullable()),
      rewards: z.array(z.number()),
      /** Frames in which the action went another way than was meant. */
      slipped: z.array(z.number().int()),
      /** The beginning of the first thought, or of the whole reply where that has none. */
      thought: z.string(),
    }),
  ),
});
export type RolloutBoards = z.infer<typeof rolloutBoards>;

/** A value for each sampled token of a turn; null where it isn't finite. */
const perToken = z.array(z.number().nullable());

/** The sampled tokens of an episode, turn by turn. */
export const episodeTokens = z.object({
  turns: z.array(
    z.object({
      /** Their texts, which put together are what was sampled; null where the run's tokenizer isn't there. */
      texts: z.array(z.string()).nullable(),
      /** Nats. */
      logprobs: perToken,
      entropies: perToken,
      /** As the update saw them; null where the group wasn't trained on, and in evaluations. */
      advantages: perToken.nullable(),
      /** The critic's; null without one, too. */
      values: perToken.nullable(),
    }),
  ),
});
export type EpisodeTokens = z.infer<typeof episodeTokens>;

/** What names a file of episodes within its run; `evaluation`: the one that was asked for, null for the run's own rollouts. */
export const episodeFile = z.object({
  iteration: z.number().int(),
  split: z.string().max(64),
  evaluation: evaluationName.nullable(),
});
export type EpisodeFileName = z.infer<typeof episodeFile>;
