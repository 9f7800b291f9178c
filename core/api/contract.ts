import { z } from 'zod';

/**
 * The one definition of the API between core and its clients (renderer, command line), carried by birpc over IPC or a WebSocket.
 * A procedure takes one object and gives one; both are checked at the border. Errors are {@link ApiError}.
 */

export const runId = z.string().regex(/^[a-z0-9-]{1,64}$/);
const metrics = z.record(z.string(), z.number());

export const runStatus = z.enum([
  'created',
  'running',
  'paused',
  'stopped',
  'completed',
  'failed',
  'interrupted',
]);
export type RunStatus = z.infer<typeof runStatus>;

/** Where a living trainer is, from its last `phase` event. */
export const phase = z.object({
  name: z.enum(['load', 'evaluate', 'rollout', 'filter', 'update', 'checkpoint']),
  iteration: z.number().int(),
  done: z.number().int(),
  total: z.number().int(),
});
export type Phase = z.infer<typeof phase>;

export const runSummary = z.object({
  id: runId,
  name: z.string(),
  preset: z.string(),
  task: z.enum(['reinforce', 'warm_start']),
  environments: z.array(z.string()).describe('environment types, in order'),
  status: runStatus,
  /** Last complete iteration, 0 before the first. */
  iteration: z.number().int(),
  iterations: z.number().int(),
  createdAt: z.number().describe('ms since the epoch'),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  phase: phase.nullable(),
  /** Seconds to the end at the pace of the last iterations; null while unknown or not running. */
  etaSeconds: z.number().nullable(),
  /** Newest value of a few metrics for cards: success_rate of the newest evaluation and rollout, reward_mean, ... */
  latest: metrics,
  failure: z.object({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
});
export type RunSummary = z.infer<typeof runSummary>;

/** One metric over iterations; the arrays are as long as each other. */
export const series = z.object({
  name: z.string(),
  iterations: z.array(z.number().int()),
  values: z.array(z.number()),
});
export type Series = z.infer<typeof series>;

export const logLine = z.object({
  seq: z.number().int(),
  time: z.number(),
  level: z.enum(['info', 'warning', 'error']),
  message: z.string(),
});
export type LogLine = z.infer<typeof logLine>;

/** A line of the journal; `body` has the fields of its type (docs/formats/journal.md). */
export const journalEvent = z.object({
  seq: z.number().int(),
  time: z.number(),
  type: z.string(),
  body: z.record(z.string(), z.unknown()),
});
export type JournalEvent = z.infer<typeof journalEvent>;

export const presetCard = z.object({
  id: z.string(),
  alias: z.string().nullable(),
  title: z.string(),
  environment: z.string(),
  algorithm: z.string(),
  /** One or two sentences: what one will see. */
  summary: z.string(),
  /** What the run should reach, in one phrase. */
  expects: z.string(),
  iterations: z.number().int(),
});
export type PresetCard = z.infer<typeof presetCard>;

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
  ended: z.enum(['done', 'max_turns', 'max_actions', 'context']),
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
 * One picture of the replay. `board` is the text grid (FrozenLake: rows of `P _ O G X √`; Sokoban: rows of `# _ O √ X P S`), or null
 * where the environment has none (Bandit).
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
  type: z.enum(['frozen-lake', 'bandit', 'sokoban']),
  config: z.record(z.string(), z.unknown()),
  arms: z.array(z.string()).nullable(),
  prompt: z.string(),
  frames: z.array(frame),
  turns: z.array(replayTurn),
});
export type Replay = z.infer<typeof replay>;

export const device = z.object({
  id: z.string(),
  name: z.string(),
  available: z.boolean(),
  reason: z.string().nullable(),
});

export const systemInfo = z.object({
  version: z.string(),
  dataFolder: z.string(),
  trainer: z.object({ path: z.string(), build: z.string().nullable(), problem: z.string().nullable() }),
  devices: z.array(device),
  cores: z.number().int(),
});
export type SystemInfo = z.infer<typeof systemInfo>;

/** What a rebuild of the history found in the data folder. */
export const rebuildReport = z.object({
  runs: z.number().int(),
  events: z.number().int(),
  rollouts: z.number().int().describe('files of episodes'),
  skipped: z.array(z.string()).describe('folders under runs/ that hold no run'),
  forgotten: z.array(z.string()).describe('runs that the history had and whose folder is gone'),
  damaged: z.array(z.string()).describe('runs with lines in their journal that are no events'),
});
export type RebuildReport = z.infer<typeof rebuildReport>;

const settings = z
  .record(z.string().max(128), z.union([z.string(), z.number(), z.boolean()]))
  .describe('run.json paths to values, as in rollout.groups');
const empty = z.object({});

/** Every procedure: its input and its output. */
export const procedures = {
  'system.info': { input: empty, output: systemInfo },
  /** Throws `trainer_missing`: for asking before anything is made. */
  'trainer.require': { input: empty, output: empty },
  /** Makes the index over all runs again from their folders; everything goes on meanwhile. */
  'history.rebuild': { input: empty, output: rebuildReport },
  'presets.list': { input: empty, output: z.array(presetCard) },
  'runs.list': { input: empty, output: z.array(runSummary) },
  'runs.get': {
    input: z.object({ runId }),
    output: z.object({ summary: runSummary, config: z.unknown(), folder: z.string() }),
  },
  /** Makes the run directory; with `start` also starts the trainer. */
  'runs.create': {
    input: z.object({ preset: z.string().max(64), set: settings.optional(), start: z.boolean() }),
    output: z.object({ runId }),
  },
  /** Starts a created run's trainer, or resumes a stopped, interrupted or failed one from its last checkpoint. */
  'runs.start': { input: z.object({ runId }), output: empty },
  /** Appends to control.jsonl; answers when the trainer has acknowledged it or the run has ended. */
  'runs.command': {
    input: z.object({ runId, command: z.enum(['pause', 'resume', 'checkpoint', 'stop']) }),
    output: z.object({ accepted: z.boolean(), message: z.string() }),
  },
  /** Series of the named metrics, or of all; `after`: only iterations above it. */
  'runs.series': {
    input: z.object({
      runId,
      names: z.array(z.string().max(128)).max(256).optional(),
      after: z.number().int().optional(),
    }),
    output: z.array(series),
  },
  'runs.log': { input: z.object({ runId }), output: z.array(logLine) },
  /** The journal after a `seq`, but for its `phase` events: at most a thousand. */
  'runs.events': {
    input: z.object({ runId, after: z.number().int() }),
    output: z.array(journalEvent),
  },
  'rollouts.list': { input: z.object({ runId }), output: z.array(rolloutFile) },
  'rollouts.episodes': {
    input: z.object({ runId, iteration: z.number().int(), split: z.string().max(64) }),
    output: z.array(episodeSummary),
  },
  'rollouts.replay': { input: z.object({ runId, episodeId: z.string().max(128) }), output: replay },
} as const;

export type ProcedureName = keyof typeof procedures;
export type Input<P extends ProcedureName> = z.infer<(typeof procedures)[P]['input']>;
export type Output<P extends ProcedureName> = z.infer<(typeof procedures)[P]['output']>;

/** What core tells every connected client, unasked. A client that missed some asks again: every notice only says what has changed. */
export const notices = {
  /** A run's summary changed: told right after the notices of the events that changed it; where only the phase did, a few times a second. */
  run: runSummary,
  /** A run's directory is gone, and the run with it. */
  removed: z.object({ runId }),
  /** New or replaced points: append those above, replace those equal. Where `truncateAfter` is given (a trainer has started), first drop points and rollouts of later iterations. */
  metrics: z.object({
    runId,
    truncateAfter: z.number().int().nullable(),
    points: z.array(z.object({ iteration: z.number().int(), metrics })),
  }),
  log: z.object({ runId, line: logLine }),
  rollout: z.object({ runId, file: rolloutFile }),
} as const;

export type NoticeName = keyof typeof notices;
export type Notice<N extends NoticeName> = z.infer<(typeof notices)[N]>;

/** An error a person can act on: stable code, what is wrong, what to do. */
export const apiError = z.object({ code: z.string(), message: z.string(), hint: z.string() });
export type ApiError = z.infer<typeof apiError>;

/** A call over the wire: `call(name, input)` answers with one of these, never by throwing. */
export type CallResult<P extends ProcedureName> =
  | { ok: true; value: Output<P> }
  | { ok: false; error: ApiError };
