import { z } from 'zod';
import { frame } from './episodes.ts';
import { apiError, runId } from './runs.ts';

/** Of a game that is open: it ends with the client that opened it. */
export const gameId = z.string().max(64);

const checkpoint = z.number().int().min(0).max(1_000_000);
/** From 1 on: level n is the run's n-th validation level, which no policy of it was trained on. */
const level = z.number().int().min(1).max(1_000_000);
/** 0 takes the likeliest token. */
const temperature = z.number().min(0).max(10);

/** A turn of the agent's that is over. */
export const playTurn = z.object({
  response: z.string(),
  think: z.string().nullable(),
  answer: z.string().nullable(),
  actions: z.array(z.string()),
  formatValid: z.boolean(),
  tokens: z.number().int(),
  /** The limit of tokens cut it. */
  cut: z.boolean(),
});
export type PlayTurn = z.infer<typeof playTurn>;

/** One player's go at the level. */
export const playSide = z.object({
  /** `ready`: nothing was done yet, or the next move is awaited. */
  state: z.enum(['ready', 'thinking', 'over']),
  /** The level as it was, then one after each move. */
  frames: z.array(frame),
  movesLeft: z.number().int(),
  success: z.boolean(),
  /** Once it is over: `done`, `max_turns`, `max_actions`, `context`, `given_up`. */
  ended: z.string().nullable(),
});
export type PlaySide = z.infer<typeof playSide>;

/** What became of a level; of you the first go alone counts. */
export const playResult = z.object({
  level,
  agent: z.object({ success: z.boolean(), moves: z.number().int() }).nullable(),
  you: z.object({ success: z.boolean(), moves: z.number().int() }).nullable(),
});
export type PlayResult = z.infer<typeof playResult>;

/** A person's rate of success on levels of an environment, kept with the run from the tenth level on. */
export const humanSuccess = z.object({
  /** Label of the run's environment. */
  environment: z.string(),
  levels: z.number().int(),
  successes: z.number().int(),
});
export type HumanSuccess = z.infer<typeof humanSuccess>;

/** A policy and a person on the same level. */
export const game = z.object({
  id: gameId,
  runId,
  checkpoint,
  /** Label of the run's environment. */
  environment: z.string(),
  type: z.string(),
  config: z.record(z.string(), z.unknown()),
  /** Names of the moves; empty: an answer is free text. */
  actions: z.array(z.string()),
  /** Names of a choice between arms, in the order shown. */
  arms: z.array(z.string()).nullable(),
  level,
  seed: z.number().int(),
  temperature,
  maxMoves: z.number().int(),
  maxTurns: z.number().int(),
  agent: playSide.extend({
    turns: z.array(playTurn),
    /** The reply in the making. */
    text: z.string().nullable(),
    failure: apiError.nullable(),
  }),
  you: playSide,
  /** By level. */
  results: z.array(playResult),
});
export type Game = z.infer<typeof game>;

/** What can be played: checkpoints that hold weights, newest first, and the run's environments. */
export const playChoices = z.object({
  checkpoints: z.array(z.number().int()),
  environments: z.array(z.object({ label: z.string(), type: z.string() })),
  /** Of the run's evaluations. */
  temperature: z.number(),
  /** A person's rates so far, by environment. */
  humanSuccess: z.array(humanSuccess),
});
export type PlayChoices = z.infer<typeof playChoices>;

/** Of the API: contract.ts takes them in. */
export const playProcedures = {
  /** Throws `run_unknown`, `config_unreadable` or `config_invalid`. */
  'play.choices': { input: z.object({ runId }), output: playChoices },
  /**
   * Opens a game in place of the one that this client has: loads the checkpoint's policy. Throws `checkpoint_missing`, `environment_unknown`, `memory_low`, what is
   * wrong with the checkpoint, or `trainer_missing`.
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
  /** Starts the agent at the beginning of the level and answers when it has started. Notices `play` report its progress. */
  'play.agent': { input: z.object({ gameId, temperature }), output: game },
  /** The agent gives the level up. */
  'play.stop': { input: z.object({ gameId }), output: game },
  /** Makes the user's move. With a temperature, this also starts the agent if needed. Throws `move_invalid` if the name is unknown or the level is over. */
  'play.move': {
    input: z.object({
      gameId,
      action: z.string().min(1).max(200),
      temperature: temperature.optional(),
    }),
    output: game,
  },
  /** Your side of the level from its start. */
  'play.restart': { input: z.object({ gameId }), output: game },
  /** Another level for both. */
  'play.level': { input: z.object({ gameId, level }), output: game },
  /** Another policy of the run, on the same level; its results so far were another's and go. */
  'play.checkpoint': { input: z.object({ gameId, checkpoint }), output: game },
  'play.close': { input: z.object({ gameId }), output: z.object({}) },
} as const;

export const playNotices = {
  /** A user's success rate on the levels of a run was saved. */
  humanSuccess: z.object({ runId, humanSuccess: z.array(humanSuccess) }),
  /** A game has changed: a move, or more of the agent's reply (some twenty times a second at most). */
  play: z.object({ runId, game }),
} as const;
