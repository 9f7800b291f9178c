import { z } from 'zod';
import { evaluationName } from './evaluations.ts';

/** docs/formats/rollouts.md: the head of every episode. */
export const episodeSummary = z.object({
  id: z.string(),
  iteration: z.int(),
  split: z.string(),
  environment: z.string(),
  group: z.int(),
  member: z.int(),
  seed: z.number(),
  reward: z.number(),
  success: z.boolean(),
  /** `done`, `max_turns`, `max_actions`, `context`, `environment_failed`, or a reason of a newer trainer. */
  ended: z.string(),
  turns: z.int(),
  actions: z.int(),
  tokens: z.int(),
  kept: z.boolean(),
  format_valid: z.boolean(),
  /** Set if the environment or the reward program failed: the episode is neither trained on nor scored, and its reward is 0. */
  void: z.object({ reason: z.string() }).optional(),
});
export type EpisodeSummary = z.infer<typeof episodeSummary>;

/** A rollout file that exists. `split` is `train` or an evaluation set's label. */
export const rolloutFile = z.object({
  iteration: z.int(),
  split: z.string(),
  episodes: z.int(),
});
export type RolloutFile = z.infer<typeof rolloutFile>;

/**
 * One frame of a replay. `board` is the state as text, often a grid, or null if the environment has no board.
 * The first frame of an episode is its initial state (no action).
 */
export const frame = z.object({
  turn: z.int(),
  /** Index of the action within the turn; -1 for the state before any. */
  step: z.int(),
  action: z.string().nullable(),
  board: z.string().nullable(),
  reward: z.number(),
  /** Sum of rewards up to and including this frame, with the penalties of finished turns. */
  total: z.number(),
  effective: z.boolean(),
  slipped: z.boolean(),
  done: z.boolean(),
  success: z.boolean(),
  /** Success is no longer possible. */
  deadEnd: z.boolean(),
  /** Names of the other step flags that the environment set. */
  facts: z.array(z.string()),
});
export type Frame = z.infer<typeof frame>;

const replayTurn = z.object({
  state: z.string(),
  /** Number of tokens of the state that the model didn't read. */
  omittedTokens: z.int(),
  /** Whether a turn after the first begins a new context. */
  beginsContext: z.boolean(),
  response: z.string(),
  think: z.string().nullable(),
  answer: z.string().nullable(),
  actions: z.array(z.string()),
  formatValid: z.boolean(),
  reward: z.number(),
  penalty: z.number(),
  /** The other reward terms that are not 0, by title. */
  terms: z.array(z.object({ title: z.string(), value: z.number() })),
  /** The checked claims of the reasoning; null if none could be checked. `start` and `end` are indices into `think`. */
  claims: z
    .object({
      checked: z.int(),
      false: z.array(z.object({ start: z.int(), end: z.int(), fact: z.string() })),
    })
    .nullable(),
  tokens: z.int(),
  /** Mean log-probability and entropy (nats) of the sampled tokens. */
  logprobMean: z.number(),
  entropyMean: z.number(),
});
export type ReplayTurn = z.infer<typeof replayTurn>;

/** An episode prepared for drawing. */
export const replay = z.object({
  summary: episodeSummary,
  /** Environment type. Unknown types are drawn as text. */
  type: z.string(),
  config: z.record(z.string(), z.unknown()),
  arms: z.array(z.string()).nullable(),
  prompt: z.string(),
  frames: z.array(frame),
  turns: z.array(replayTurn),
});
export type Replay = z.infer<typeof replay>;

/** First thoughts of the training episodes of one iteration: the reasoning of each episode's first turn, or the whole response if it has no reasoning. */
export const thoughts = z.object({
  iteration: z.int(),
  episodes: z.int(),
  /** Most common first. */
  thoughts: z.array(
    z.object({
      text: z.string(),
      count: z.int(),
      successes: z.int(),
      /** Ids of the episodes that start with it. */
      episodes: z.array(z.string()),
    }),
  ),
  /** Why the episodes are missing if only their index is left; null if all are available. */
  missing: z.string().nullable(),
});
export type Thoughts = z.infer<typeof thoughts>;

/**
 * The boards of all episodes of a rollout file, for simultaneous replay. Each distinct board is stored once: an episode's `boards` are indices into the
 * file's `boards`, one per frame as in {@link replay}, or -1 if the environment has no board.
 */
export const rolloutBoards = z.object({
  iteration: z.int(),
  split: z.string(),
  boards: z.array(z.string()),
  episodes: z.array(
    z.object({
      summary: episodeSummary,
      type: z.string(),
      /** Configuration of the environment, shared by its episodes. */
      config: z.record(z.string(), z.unknown()),
      arms: z.array(z.string()).nullable(),
      boards: z.array(z.int()),
      actions: z.array(z.string().nullable()),
      rewards: z.array(z.number()),
      /** Mean over its tokens; null if the update didn't train on the episode. */
      advantage: z.number().nullable(),
      /** Frames whose action slipped. */
      slipped: z.array(z.int()),
      /** Start of the first reasoning, or of the whole response if it has no reasoning. */
      thought: z.string(),
    }),
  ),
});
export type RolloutBoards = z.infer<typeof rolloutBoards>;

/** One value per sampled token of a turn; null if not finite. */
const perToken = z.array(z.number().nullable());

/** The sampled tokens of an episode, turn by turn. */
export const episodeTokens = z.object({
  turns: z.array(
    z.object({
      /** Token texts, whose concatenation is the response; null if the run's tokenizer is missing. */
      texts: z.array(z.string()).nullable(),
      /** In nats. */
      logprobs: perToken,
      entropies: perToken,
      /** Advantages used in the update; null for episodes that were not trained on, such as those of filtered or gated groups and of evaluations. */
      advantages: perToken.nullable(),
      /** Values predicted by the critic; null without a critic, for filtered groups and in evaluations. */
      values: perToken.nullable(),
    }),
  ),
});
export type EpisodeTokens = z.infer<typeof episodeTokens>;

/** Identifies a file of episodes within its run. `evaluation` is the name of an evaluation on request; null for the run's own rollouts. */
export const episodeFile = z.object({
  iteration: z.int(),
  split: z.string().max(64),
  evaluation: evaluationName.nullable(),
});
export type EpisodeFileName = z.infer<typeof episodeFile>;
