import { z } from 'zod';

/**
 * The one definition of the API between core and its clients (renderer, command line), carried by birpc over IPC or a WebSocket.
 * A procedure takes one object and gives one; both are checked at the border. Errors are {@link ApiError}.
 */

export const runId = z.string().regex(/^[a-z0-9-]{1,64}$/);
const metrics = z.record(z.string(), z.number());

export const runStatus = z.enum([
  'created',
  'queued',
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

/** An error a person can act on: stable code, what is wrong, what to do. */
export const apiError = z.object({ code: z.string(), message: z.string(), hint: z.string() });
export type ApiError = z.infer<typeof apiError>;

export const tagText = z
  .string()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} ._:/+-]{0,39}$/u,
    'must be 1 to 40 letters, digits, spaces or . _ : / + -',
  );
export const noteText = z.string().max(10_000);

/** What people said of a run; kept in its annotations.jsonl. */
export const runMarks = z.object({
  tags: z.array(z.string()).describe('sorted'),
  note: z.string(),
  starred: z.boolean(),
  archived: z.boolean(),
});
export type RunMarks = z.infer<typeof runMarks>;

export const alertSeverity = z.enum(['notice', 'warning', 'critical']);
/** Something a detector found in a run, and what became of it. */
export const alert = z.object({
  id: z.string(),
  kind: z.string(),
  severity: alertSeverity,
  iteration: z.number().int(),
  message: z.string(),
  state: z.enum(['raised', 'acknowledged', 'snoozed', 'cleared']),
  raisedAt: z.number(),
  changedAt: z.number(),
  /** ms since the epoch, for a snoozed one. */
  snoozedUntil: z.number().nullable(),
});
export type Alert = z.infer<typeof alert>;

/** A living trainer that has been silent for far longer than its run's own pace explains. */
export const stall = apiError.extend({
  /** The phase that hangs; null where the trainer hasn't named one yet. */
  phase: phase.shape.name.nullable(),
  since: z.number().describe('time of its last event, ms since the epoch'),
});
export type Stall = z.infer<typeof stall>;

/** What a run takes on disk, in bytes. */
export const runStorage = z.object({
  rollouts: z.number(),
  checkpoints: z.number(),
  journal: z.number(),
  other: z.number(),
  total: z.number(),
  /** storage.budget_gigabytes; null: none. */
  budget: z.number().nullable(),
  /** What it will take at its end, by an estimate; null once it has ended. */
  expected: z.number().nullable(),
  /** Free space of the disk. */
  free: z.number(),
  warnings: z.array(apiError),
});
export type RunStorage = z.infer<typeof runStorage>;

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
  /** 1 for the one that starts next; null where it isn't queued. */
  queuePosition: z.number().int().nullable(),
  stalled: stall.nullable(),
  marks: runMarks,
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
  failure: z.object({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
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
  /** Success can't be had any more: a Sokoban box that no push brings to a target. */
  deadEnd: z.boolean(),
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

const settings = z
  .record(z.string().max(128), z.union([z.string(), z.number(), z.boolean()]))
  .describe('run.json paths to values, as in rollout.groups');
const empty = z.object({});

/** Every procedure: its input and its output. */
export const procedures = {
  'system.info': { input: empty, output: systemInfo },
  'presets.list': { input: empty, output: z.array(presetCard) },
  'runs.list': { input: empty, output: z.array(runSummary) },
  'runs.get': {
    input: z.object({ runId }),
    output: z.object({ summary: runSummary, config: z.unknown(), folder: z.string() }),
  },
  /** Makes the run directory; with `start` also starts the trainer, with `queue` adds it to the queue instead. */
  'runs.create': {
    input: z.object({
      preset: z.string().max(64),
      set: settings.optional(),
      start: z.boolean(),
      queue: z.boolean().optional(),
    }),
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
  /** Copies a run folder from elsewhere on this machine into the data folder; a name that is taken gets another end. */
  'runs.adopt': { input: z.object({ folder: z.string().min(1).max(4096) }), output: z.object({ runId }) },
  'runs.storage': { input: z.object({ runId }), output: runStorage },
  /** Changes what is named, leaves the rest. */
  'runs.annotate': {
    input: z.object({
      runId,
      addTags: z.array(tagText).max(32).optional(),
      removeTags: z.array(z.string().max(64)).max(32).optional(),
      note: noteText.optional(),
      starred: z.boolean().optional(),
      archived: z.boolean().optional(),
    }),
    output: runMarks,
  },
  'alerts.list': { input: z.object({ runId }), output: z.array(alert) },
  /** Answers an alert; `until` (ms since the epoch) belongs to `snoozed`. */
  'alerts.answer': {
    input: z.object({
      runId,
      alertId: z.string().max(64),
      state: z.enum(['acknowledged', 'snoozed', 'cleared']),
      until: z.number().optional(),
    }),
    output: z.array(alert),
  },
  /** Runs that wait for their device, next first; `problem`: what keeps the queue from going on. */
  'queue.list': {
    input: empty,
    output: z.object({ runs: z.array(runId), problem: apiError.nullable() }),
  },
  /** Puts a startable run at the queue's end; one that is in it stays where it is. */
  'queue.add': { input: z.object({ runId }), output: z.object({ position: z.number().int() }) },
  /** From now on this core starts what waits, as the app and `starpo serve` do by themselves. */
  'queue.work': { input: empty, output: empty },
  'queue.remove': { input: z.object({ runId }), output: empty },
  /** To a position from 1 on; beyond the last means the last. */
  'queue.move': {
    input: z.object({ runId, position: z.number().int().min(1) }),
    output: z.object({ position: z.number().int() }),
  },
  'rollouts.list': { input: z.object({ runId }), output: z.array(rolloutFile) },
  'rollouts.episodes': {
    input: z.object({ runId, iteration: z.number().int(), split: z.string().max(64) }),
    output: z.array(episodeSummary),
  },
  'rollouts.replay': { input: z.object({ runId, episodeId: z.string().max(128) }), output: replay },
  /** One level (group) in several files: the same level at different checkpoints. Null where a file or the level in it is missing. */
  'rollouts.level': {
    input: z.object({
      runId,
      group: z.number().int().min(0),
      files: z
        .array(
          z.object({
            iteration: z.number().int(),
            split: z.string().max(64),
            evaluation: evaluationName.nullable(),
          }),
        )
        .max(2000),
    }),
    output: z.array(episodeSummary.nullable()),
  },
  'evaluations.choices': { input: z.object({ runId }), output: evaluationChoices },
  /**
   * Begins to play a checkpoint on fixed levels, whether or not the run is training; answers once the policy is loaded. `on`: a label of the run's, an
   * environment type, or a preset; without it the run's first validated environment. `set`: keys of that environment (`config.size`, or just `size`).
   */
  'evaluations.start': {
    input: z.object({
      runId,
      checkpoint: z.number().int().min(0).max(1_000_000),
      on: z.string().max(64).optional(),
      set: settings.optional(),
      levels: z.number().int().optional(),
      temperature: z.number().optional(),
      seed: z.number().int().optional(),
      name: evaluationName.optional(),
    }),
    output: evaluation,
  },
  /** Newest first; those that failed since core started are among them. */
  'evaluations.list': { input: z.object({ runId }), output: z.array(evaluation) },
  'evaluations.get': { input: z.object({ runId, name: evaluationName }), output: evaluation },
  /** Gives up one that is under way; nothing of it stays. Answers when it has ended. */
  'evaluations.cancel': { input: z.object({ runId, name: evaluationName }), output: empty },
  'evaluations.episodes': {
    input: z.object({ runId, name: evaluationName }),
    output: z.array(episodeSummary),
  },
  'evaluations.replay': {
    input: z.object({ runId, name: evaluationName, episodeId: z.string().max(128) }),
    output: replay,
  },
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
  /** An evaluation that was asked for has begun, come further (a few times a second) or ended; a cancelled one is gone. */
  evaluation: z.object({ runId, evaluation }),
  /** Its episodes are deleted, since the run keeps those of the newest iterations alone. */
  rolloutRemoved: z.object({ runId, iteration: z.number().int(), split: z.string() }),
  storage: z.object({ runId, storage: runStorage }),
  alerts: z.object({ runId, alerts: z.array(alert) }),
} as const;

export type NoticeName = keyof typeof notices;
export type Notice<N extends NoticeName> = z.infer<(typeof notices)[N]>;

/** A call over the wire: `call(name, input)` answers with one of these, never by throwing. */
export type CallResult<P extends ProcedureName> =
  | { ok: true; value: Output<P> }
  | { ok: false; error: ApiError };
