import { z } from 'zod';
import { frame } from './episodes.ts';
import { apiError, runId } from './runs.ts';

/** Id of an open game. A game ends when its client disconnects. */
export const gameId = z.string().max(64);

const checkpoint = z.int().min(0).max(1_000_000);
/** From 1. Level n is the run's n-th validation level, on which none of its policies was trained. */
const level = z.int().min(1).max(1_000_000);
/** How the agent samples tokens: `top_k`, then `min_p`, then `top_p` truncate the distribution, as in the trainer. */
const sampling = z.object({
  /** 0 is greedy. */
  temperature: z.number().min(0).max(10),
  /** 1 disables it. */
  topP: z.number().min(0.01).max(1),
  /** 0 disables it. */
  topK: z.int().min(0).max(1_000_000),
  /** 0 disables it. */
  minP: z.number().min(0).max(1),
});
export type Sampling = z.infer<typeof sampling>;

/** A finished turn of the agent. */
const playTurn = z.object({
  response: z.string(),
  think: z.string().nullable(),
  answer: z.string().nullable(),
  actions: z.array(z.string()),
  formatValid: z.boolean(),
  tokens: z.int(),
  /** Whether the token limit truncated the response. */
  cut: z.boolean(),
});
export type PlayTurn = z.infer<typeof playTurn>;

/** One player's attempt at the level. */
const playSide = z.object({
  /** `ready`: not started, or waiting for the next action. */
  state: z.enum(['ready', 'thinking', 'over']),
  /** The initial state, then one frame per action. */
  frames: z.array(frame),
  movesLeft: z.int(),
  success: z.boolean(),
  /** Reason of the end; null until then: `done`, `max_turns`, `max_actions`, `context`, `given_up`, or `failed` if the agent failed. */
  ended: z.string().nullable(),
});
export type PlaySide = z.infer<typeof playSide>;

/** Results on a level. For the user, only the first attempt counts. */
const playResult = z.object({
  level,
  agent: z.object({ success: z.boolean(), moves: z.int() }).nullable(),
  you: z.object({ success: z.boolean(), moves: z.int() }).nullable(),
});
export type PlayResult = z.infer<typeof playResult>;

/** The user's success on levels of an environment, stored in the run from the tenth level. */
export const humanSuccess = z.object({
  /** Label of the run's environment. */
  environment: z.string(),
  levels: z.int(),
  successes: z.int(),
});
export type HumanSuccess = z.infer<typeof humanSuccess>;

/** An agent and the user on the same level. */
export const game = z.object({
  id: gameId,
  runId,
  checkpoint,
  /** Label of the run's environment. */
  environment: z.string(),
  type: z.string(),
  config: z.record(z.string(), z.unknown()),
  /** Action names; empty if actions are free text. */
  actions: z.array(z.string()),
  /** Names of the arms in display order; null if the environment has none. */
  arms: z.array(z.string()).nullable(),
  level,
  seed: z.int(),
  sampling,
  maxMoves: z.int(),
  maxTurns: z.int(),
  maxActionsPerTurn: z.int(),
  agent: playSide.extend({
    turns: z.array(playTurn),
    /** The response so far; null if none is being sampled. */
    text: z.string().nullable(),
    failure: apiError.nullable(),
  }),
  you: playSide,
  /** By level. */
  results: z.array(playResult),
});
export type Game = z.infer<typeof game>;

/** Options for a game: checkpoints with weights, newest first, and the run's environments. */
const playChoices = z.object({
  checkpoints: z.array(z.int()),
  environments: z.array(z.object({ label: z.string(), type: z.string() })),
  /** Sampling of the run's evaluations. */
  sampling,
  /** The user's newest saved success, by environment. */
  humanSuccess: z.array(humanSuccess),
});
export type PlayChoices = z.infer<typeof playChoices>;

/** Procedures of the contract about playing. */
export const playProcedures = {
  /** Throws `run_unknown`, `config_unreadable` or `config_invalid`. */
  'play.choices': { input: z.object({ runId }), output: playChoices },
  /**
   * Opens a game with a checkpoint's policy and closes this client's previous game. Throws `checkpoint_missing`, `environment_unknown`, `command_not_confirmed`, `level_not_found`, `memory_low`,
   * `trainer_missing`, or the checkpoint's error.
   */
  'play.open': {
    input: z.object({
      runId,
      checkpoint,
      environment: z.string().max(32).optional(),
      level: level.optional(),
    }),
    output: game,
  },
  'play.get': { input: z.object({ gameId }), output: game },
  /** Starts the agent at the beginning of the level; returns when it has started. Notices `play` report its progress. */
  'play.agent': { input: z.object({ gameId, sampling }), output: game },
  /** Stops the agent, which gives up the level. */
  'play.stop': { input: z.object({ gameId }), output: game },
  /** Executes the user's action. With `sampling`, this also starts the agent if needed. Throws `move_invalid` if the action is unknown or the level is over. */
  'play.move': {
    input: z.object({
      gameId,
      action: z.string().min(1).max(200),
      sampling: sampling.optional(),
    }),
    output: game,
  },
  /** Restarts the level for the user. */
  'play.restart': { input: z.object({ gameId }), output: game },
  /** Switches both players to another level. */
  'play.level': { input: z.object({ gameId, level }), output: game },
  /** Switches to another checkpoint on the same level and clears the agent's results. */
  'play.checkpoint': { input: z.object({ gameId, checkpoint }), output: game },
  'play.close': { input: z.object({ gameId }), output: z.object({}) },
} as const;

export const playNotices = {
  /** A user's success rate on the levels of a run was saved. */
  humanSuccess: z.object({ runId, humanSuccess: z.array(humanSuccess) }),
  /** A game changed: an action, or more of the agent's response (at most twenty times per second). */
  play: z.object({ runId, game }),
} as const;
