import { z } from 'zod';
import { episodeSummary, frame, replay } from './episodes.ts';
import { gameId } from './play.ts';
import { ownCommand, runId } from './runs.ts';

/** Environments that the user has added: programs that speak docs/formats/process-environment.md. */

const empty = z.object({});
/** Marks procedures that write to the data folder, as in contract.ts. */
const changes = true;

/** Also the label of the environment in runs. */
const id = z.string().regex(/^[a-z0-9-]{1,24}$/);
const name = z.string().regex(/^\P{Cc}{1,40}$/u, 'must be 1 to 40 characters, on one line');

/** The conformance checks, in order. */
export const environmentChecks = [
  'starts and answers hello',
  'plays episodes with valid answers and finite rewards',
  'answers in time',
  'answers are at most 1 MiB long',
  'the same seed gives the same episode',
  'an episode can be closed before its end',
  'a step after the end is tolerated',
  'each action is answered, in upper and lower case',
  'malformed actions are answered',
  "parallel episodes don't affect each other",
  'a new process gives the same episode after a crash',
  'exits at the end of its input',
] as const;
export type EnvironmentCheck = (typeof environmentChecks)[number];

/** A row of the conformance checks. `skipped`: the check does not apply to this program. */
export const checkRow = z.object({
  check: z.string(),
  verdict: z.enum(['ok', 'failed', 'skipped']),
  reason: z.string(),
});
export type CheckRow = z.infer<typeof checkRow>;

/** Limits of an episode in runs that use the preset. */
export const environmentRules = z.object({
  max_turns: z.int().min(1).max(100),
  max_actions_per_turn: z.int().min(1).max(100),
  max_actions: z.int().min(1).max(1000),
});
export type EnvironmentRules = z.infer<typeof environmentRules>;

export const ownEnvironment = z.object({
  id,
  name,
  ...ownCommand.shape,
  /** Whether the user has confirmed the command. */
  confirmed: z.boolean(),
  /** Valid actions that the program reported; null for free text. */
  actions: z.array(z.string()).nullable(),
  rules: environmentRules,
  /** Result of the last checks; null before the first. */
  checks: z.object({ time: z.number(), rows: z.array(checkRow) }).nullable(),
  /** Short name of its preset; null without one. */
  preset: z.string().nullable(),
});
export type OwnEnvironment = z.infer<typeof ownEnvironment>;

/** An episode that the user plays by hand. */
export const handGame = z.object({
  id: gameId,
  environmentId: id,
  seed: z.int(),
  /** Valid actions of the current state; null for free text. */
  actions: z.array(z.string()).nullable(),
  /** Text that a model would read. */
  observation: z.string(),
  /** The initial state, then one frame per action. */
  frames: z.array(frame),
  done: z.boolean(),
  success: z.boolean(),
});
export type HandGame = z.infer<typeof handGame>;

/** Episodes that a policy played on the first validation levels of an environment. */
export const watchedEpisodes = z.object({
  time: z.number().describe('ms since the epoch'),
  /** The run whose checkpoint played; null for the starter policy. */
  policy: z.object({ run: runId, checkpoint: z.int() }).nullable(),
  temperature: z.number(),
  episodes: z.array(episodeSummary),
  warnings: z.array(z.string()),
});
export type WatchedEpisodes = z.infer<typeof watchedEpisodes>;

const seed = z.int().min(0).max(4_294_967_295);

export const ownEnvironmentProcedures = {
  'environments.list': { input: empty, output: z.array(ownEnvironment) },
  /**
   * Starts a program once and adds it. Throws `command_not_confirmed`, `directory_missing`, `environment_failed` if it doesn't answer, `environment_exists`, or
   * `address_invalid`.
   */
  'environments.add': {
    changes,
    input: z
      .object({ name: name.optional() })
      .and(z.union([ownCommand, z.object({ address: z.string().min(1).max(2048) })])),
    output: ownEnvironment,
  },
  /** Changes the given parts. `preset` adds or removes its preset, which then appears on the Start page. Throws `environment_unknown`. */
  'environments.update': {
    changes,
    input: z.object({
      id,
      name: name.optional(),
      rules: environmentRules.optional(),
      preset: z.boolean().optional(),
    }),
    output: ownEnvironment,
  },
  /** Removes it from the list, with its preset. Runs keep their copy of the command. */
  'environments.remove': { changes, input: z.object({ id }), output: empty },
  /** Runs the conformance checks as a task. Notices `environmentCheck` report the rows. Throws `command_not_confirmed` or `task_canceled`. */
  'environments.check': { changes, input: z.object({ id }), output: ownEnvironment },
  /** Starts an episode for the user, and ends this client's previous one. Throws `command_not_confirmed` or `environment_failed`. */
  'environments.play': { input: z.object({ id, seed }), output: handGame },
  /** Executes the user's action. Throws `move_invalid`, `game_unknown` or `environment_failed`. */
  'environments.act': { input: z.object({ gameId, action: z.string().max(20_000) }), output: handGame },
  'environments.leave': { input: z.object({ gameId }), output: empty },
  /**
   * Plays ten episodes with a checkpoint's policy, or the starter policy, as a task. Throws `command_not_confirmed`, `checkpoint_missing`, or the trainer's
   * error.
   */
  'environments.watch': {
    changes,
    input: z.object({ id, policy: watchedEpisodes.shape.policy }),
    output: watchedEpisodes,
  },
  /** Returns the last watched episodes; null if there are none. */
  'environments.watched': { input: z.object({ id }), output: z.object({ watched: watchedEpisodes.nullable() }) },
  'environments.replay': { input: z.object({ id, episodeId: z.string().max(128) }), output: replay },
} as const;

export const ownEnvironmentNotices = {
  /** An environment was added, changed or removed. */
  environments: z.object({ environments: z.array(ownEnvironment) }),
  /** The rows of checks in progress, in order. */
  environmentCheck: z.object({ id, rows: z.array(checkRow) }),
} as const;
