import { z } from 'zod';
import { trapBrief, trapLevel, trapReaction, trapRegime } from './echo-trap.ts';
import { isNestedTooDeeply } from './nesting.ts';
import { type OpenWord, openWord } from './open-words.ts';

export const runId = z.string().regex(/^[a-z0-9-]{1,64}$/);
/** Values by the names of docs/formats/metrics.md. */
export const metrics = z.record(z.string(), z.number());

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
export type KnownRunStatus = z.infer<typeof runStatus>;
export type RunStatus = OpenWord<KnownRunStatus>;

/** What a newer trainer doesn't say, or says in another way, is 0: how far a phase is matters less than which it is. */
const count = z.number().catch(0);
/** Where a living trainer is, from its last `phase` event. */
export const phase = z.object({
  /** `load`, `evaluate`, `rollout`, `filter`, `update`, `checkpoint`, or one of a newer trainer. */
  name: z.string(),
  iteration: count,
  done: count,
  total: count,
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
/** What was written of a run already, by a newer version as well, is read up to this length: lists of runs carry it. */
export const keptText = z.string().max(65_536);
/** What a person calls a run; empty: by its own name. */
export const runName = z.string().regex(/^\P{Cc}{0,80}$/u, 'must be at most 80 characters, on one line');

/** What people said of a run; kept in its annotations.jsonl. */
export const runMarks = z.object({
  tags: z.array(z.string()).describe('sorted'),
  note: z.string(),
  starred: z.boolean(),
  archived: z.boolean(),
  name: z.string().describe('empty: it goes by its own'),
});
export type RunMarks = z.infer<typeof runMarks>;

/** What an alert rests on; nulls and no advice in those of other detectors and of earlier versions. */
export const alertEvidence = z.object({
  level: openWord(trapLevel).nullable(),
  /** The metric that shows it best, its smoothed value and the run's own normal. */
  series: z.string().nullable(),
  value: z.number().nullable(),
  baseline: z.number().nullable(),
  /** Iteration in which the first of what it rests on began. */
  since: z.number().int().nullable(),
  regime: openWord(trapRegime).nullable(),
  /** Ids of advice for it, the preferred one first. */
  advice: z.array(z.string()),
});
export type AlertEvidence = z.infer<typeof alertEvidence>;

export const alertSeverity = z.enum(['notice', 'warning', 'critical']);
export const alertState = z.enum(['raised', 'acknowledged', 'snoozed', 'cleared']);
/** Something a detector found in a run, and what became of it. */
export const alert = z.object({
  id: z.string(),
  kind: z.string(),
  severity: openWord(alertSeverity),
  iteration: z.number().int(),
  message: z.string(),
  state: openWord(alertState),
  raisedAt: z.number(),
  changedAt: z.number(),
  /** ms since the epoch, for a snoozed one. */
  snoozedUntil: z.number().nullable(),
  ...alertEvidence.shape,
  /** What was done about it last; null where nothing was. */
  reaction: trapReaction.nullable(),
});
export type Alert = z.infer<typeof alert>;

/** A living trainer that has been silent for far longer than its run's own pace explains. */
export const stall = apiError.extend({
  /** The phase that hangs; null where the trainer hasn't named one yet. */
  phase: phase.shape.name.nullable(),
  since: z.number().describe('time of its last event, ms since the epoch'),
});
export type Stall = z.infer<typeof stall>;

/** Short, since the ids of its runs begin with it. */
export const studyId = z.string().regex(/^[a-z0-9-]{1,40}$/);
export const studyName = z.string().min(1).max(80);

/** To which study a run belongs. */
export const studyOfRun = z.object({
  id: studyId,
  name: studyName,
  point: z.string(),
  seed: z.number().int(),
});

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
  /** `reinforce`, `warm_start`, or one of a newer version. */
  task: z.string(),
  environments: z.array(z.string()).describe('environment types, in order'),
  algorithm: z.string().describe('as in `StarPO-S (PPO)`'),
  /** What its configuration asks for: `auto`, `cpu`, `cuda` or one GPU. */
  device: z.string(),
  /** What its last trainer ran on; null before there was one. */
  machine: z
    .object({ host: z.string(), device: z.string(), name: z.string().nullable(), threads: z.number().int() })
    .nullable(),
  status: openWord(runStatus),
  /** Last complete iteration; before the first, 0 or that of the checkpoint that it goes on from. */
  iteration: z.number().int(),
  iterations: z.number().int(),
  createdAt: z.number().describe('ms since the epoch'),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  /** How long trainers worked at it up to the newest event, without pauses; null where an earlier version took its events in. */
  takenSeconds: z.number().nullable(),
  phase: phase.nullable(),
  /** Seconds to the end at the pace of the last iterations; null while unknown or not running. */
  etaSeconds: z.number().nullable(),
  /** Newest value of a few metrics for cards: success_rate of the newest evaluation and rollout, reward_mean, ... */
  latest: metrics,
  failure: apiError.nullable(),
  /** 1 for the one that starts next; null where it isn't queued. */
  queuePosition: z.number().int().nullable(),
  stalled: stall.nullable(),
  /** The study that it was made for. */
  study: studyOfRun.nullable(),
  marks: runMarks,
  /** The run that it was made from, and the iteration of the checkpoint that it goes on from (null: it took the configuration alone); the run may be gone. */
  parent: z.object({ run: runId, iteration: z.number().int().nullable() }).nullable(),
  /** What the Echo Trap's monitor says of it; null where there is nothing to judge. */
  trap: trapBrief.nullable(),
  /** What was done last about an alarm; null where nothing was. */
  reaction: trapReaction.nullable(),
});
export type RunSummary = z.infer<typeof runSummary>;

/**
 * One metric over iterations; the arrays are as long as each other. Where it has more points than were asked for, a stretch of them is one entry: its iteration is the
 * last one of the stretch, its value their mean.
 */
export const series = z.object({
  name: z.string(),
  iterations: z.array(z.number().int()),
  values: z.array(z.number()),
  /** The least and the greatest value of each entry's points, and how many they are; absent where every entry is one point. */
  buckets: z
    .object({ least: z.array(z.number()), most: z.array(z.number()), counts: z.array(z.number().int()) })
    .optional(),
});
export type Series = z.infer<typeof series>;

/** When iterations ended, ms since 1970, both ascending; the start of training stands at iteration 0. Not every iteration has to be there. */
export const iterationTimes = z.object({
  iterations: z.array(z.number().int()),
  times: z.array(z.number()),
});
export type IterationTimes = z.infer<typeof iterationTimes>;

export const logLine = z.object({
  seq: z.number().int(),
  time: z.number(),
  /** `info`, `warning`, `error`, or one of a newer trainer. */
  level: z.string(),
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

/** docs/formats/journal.md, Memory plan: parts of lifetime `rollout` and `update` take turns in one place. */
export const memoryPart = z.object({
  name: z.string(),
  /** `run`, `rollout`, `update`, or one of a newer trainer. */
  lifetime: z.string(),
  bytes: z.number(),
});
export type MemoryPart = z.infer<typeof memoryPart>;

export const memoryPlan = z.object({
  device: z.string(),
  device_bytes: z.number(),
  free_bytes: z.number().describe('before the run took any'),
  total_bytes: z.number(),
  parts: z.array(memoryPart),
});
export type MemoryPlan = z.infer<typeof memoryPlan>;

/** A published model that presets begin from. */
export const modelCard = z.object({
  name: z.string(),
  title: z.string(),
  repository: z.string().describe('at Hugging Face'),
  licence: z.string(),
});
export type ModelCard = z.infer<typeof modelCard>;

/** Whether a run could begin from a model folder. */
export const modelState = z.object({
  /** Null where none was found. */
  folder: z.string().nullable(),
  parameters: z.number().nullable(),
  problem: apiError.nullable(),
});
export type ModelState = z.infer<typeof modelState>;

const checkpointIteration = z.number().int().min(0).max(1_000_000);

/**
 * What a run is made from: a preset, another run's configuration, a checkpoint of another run, where it goes on as that run stood (docs/formats/run-config.md, Start), or a
 * whole configuration.
 */
export const runSource = z.union([
  z.object({ preset: z.string().max(64) }),
  z.object({ run: runId, checkpoint: checkpointIteration, keepOptimizer: z.boolean() }),
  z.object({ run: runId, checkpoint: z.undefined().optional() }),
  z.object({
    config: z
      .record(z.string(), z.unknown())
      .refine((config) => !isNestedTooDeeply(config), 'must be nested less deeply'),
  }),
]);
export type RunSource = z.infer<typeof runSource>;

/** What a living trainer can be asked for; `pin` and `unpin` name the checkpoint whose optimiser state is to stay. */
export const runCommand = z.union([
  z.object({ command: z.enum(['pause', 'resume', 'checkpoint', 'stop']) }),
  z.object({ command: z.enum(['pin', 'unpin']), iteration: checkpointIteration }),
]);
export type RunCommand = z.infer<typeof runCommand>;
