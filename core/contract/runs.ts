import { z } from 'zod';
import { runJob } from './cluster-job.ts';
import { alertAction, trapBrief, trapLevel, trapRegime } from './echo-trap.ts';
import { isNestedTooDeeply } from './nesting.ts';
import { type OpenWord, openWord } from './open-words.ts';

export const runId = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be a run id: 1 to 64 lowercase letters, digits and hyphens');
/** Values by metric name (docs/formats/metrics.md). */
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

/** Progress fields fall back to 0 if a newer trainer omits or changes them. */
const count = z.number().catch(0);
/** Current phase of the trainer, from its last `phase` event. */
export const phase = z.object({
  /** `load`, `evaluate`, `rollout`, `filter`, `diagnose`, `update`, `checkpoint`, or a value from a newer trainer. */
  name: z.string(),
  iteration: count,
  done: count,
  total: count,
});
export type Phase = z.infer<typeof phase>;

/** The command of a user's environment program, and the folder in which it runs. */
export const ownCommand = z.object({
  command: z.string().min(1).max(4096),
  directory: z
    .string()
    .regex(/^\/[^\n]*$/, 'must be an absolute path')
    .max(256),
});
export type OwnCommand = z.infer<typeof ownCommand>;

/** An error with a stable code, a message and a hint. */
export const apiError = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string(),
  /** With the code `command_not_confirmed`: the command to confirm with `commands.confirm`. */
  unconfirmed: ownCommand.optional(),
});
export type ApiError = z.infer<typeof apiError>;

export const tagText = z
  .string()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} ._:/+-]{0,39}$/u,
    'must be 1 to 40 letters, digits, spaces or . _ : / + -, and begin with a letter or digit',
  );
export const noteText = z.string().max(10_000);
/** Length limit for reading existing texts, which run lists include. */
export const keptText = z.string().max(65_536);
/** Display name of a run; empty for the default name. */
export const runName = z.string().regex(/^\P{Cc}{0,80}$/u, 'must be at most 80 characters, on one line');

/** Marks that a run can have from its start. */
export const newRunMarks = z.object({
  name: runName.optional(),
  tags: z.array(tagText).max(256).optional(),
  note: noteText.optional(),
});
export type NewRunMarks = z.infer<typeof newRunMarks>;

/** Marks set by users, stored in annotations.jsonl. */
export const runMarks = z.object({
  tags: z.array(z.string()).describe('sorted'),
  note: z.string(),
  starred: z.boolean(),
  archived: z.boolean(),
  name: z.string().describe('empty for the default name'),
});
export type RunMarks = z.infer<typeof runMarks>;

/** Evidence of an alert; null or empty for other detectors and earlier versions. */
export const alertEvidence = z.object({
  level: openWord(trapLevel).nullable(),
  /** The main metric, its smoothed value and the run's baseline. */
  series: z.string().nullable(),
  value: z.number().nullable(),
  baseline: z.number().nullable(),
  /** Iteration at which the first signal began. */
  since: z.int().nullable(),
  regime: openWord(trapRegime).nullable(),
  /** Ids of advice, recommended first. */
  advice: z.array(z.string()),
});
export type AlertEvidence = z.infer<typeof alertEvidence>;

const alertSeverity = z.enum(['notice', 'warning', 'critical']);
const alertState = z.enum(['raised', 'acknowledged', 'snoozed', 'cleared']);
/** A detector's finding and its state. */
export const alert = z.object({
  id: z.string(),
  kind: z.string(),
  severity: openWord(alertSeverity),
  iteration: z.int(),
  message: z.string(),
  state: openWord(alertState),
  raisedAt: z.number(),
  changedAt: z.number(),
  /** End of a snooze, in ms since the epoch. */
  snoozedUntil: z.number().nullable(),
  ...alertEvidence.shape,
  /** The last action on it; null if none. */
  action: alertAction.nullable(),
});
export type Alert = z.infer<typeof alert>;

/** A trainer that has been silent much longer than the run's pace explains. */
export const stall = apiError.extend({
  /** The phase that hangs; null before the first phase. */
  phase: phase.shape.name.nullable(),
  since: z.number().describe('time of its last event, ms since the epoch'),
});
export type Stall = z.infer<typeof stall>;

/** Short, since run ids start with it. */
export const studyId = z
  .string()
  .regex(/^[a-z0-9-]{1,40}$/, 'must be a sweep id: 1 to 40 lowercase letters, digits and hyphens');
export const studyName = z.string().min(1).max(80);
export const newStudyName = z
  .string()
  .max(80)
  .regex(/^(?=.*\S)\P{Cc}*$/u, 'must be text on one line');

/** The sweep of a run. */
const studyOfRun = z.object({
  id: studyId,
  name: studyName,
  point: z.string(),
  seed: z.int(),
});

/** Disk use of a run, in bytes. */
export const runStorage = z.object({
  rollouts: z.number(),
  checkpoints: z.number(),
  journal: z.number(),
  other: z.number(),
  total: z.number(),
  /** storage.budget_gigabytes; null if unlimited. */
  budget: z.number().nullable(),
  /** Estimated final size; null if the run has completed or its run.json is invalid. */
  expected: z.number().nullable(),
  /** Free disk space. */
  free: z.number(),
  warnings: z.array(apiError),
});
export type RunStorage = z.infer<typeof runStorage>;

const successAt = z.object({ iteration: z.int(), success: z.number() });

/**
 * The collapse of a run (docs/collapse-rule.md, Shown as collapsed): peak success, last success, and the iteration of the Echo Trap
 * monitor's first warning, or null. Success is in [0, 1], averaged over environments.
 */
export const runCollapse = z.object({ peak: successAt, last: successAt, warnedAt: z.int().nullable() });
export type RunCollapse = z.infer<typeof runCollapse>;

/** The levels of an evaluation (docs/formats/panels.md): the environment's label, and the SHA-256 of the file. */
export const panel = z.object({ label: z.string(), hash: z.string() });
export type PanelHash = z.infer<typeof panel>;

export const runSummary = z.object({
  id: runId,
  name: z.string(),
  preset: z.string(),
  /** `reinforce`, `warm_start`, or a value of a newer version. */
  task: z.string(),
  environments: z.array(z.string()).describe('environment types, in order'),
  algorithm: z.string().describe('as in `StarPO-S (PPO)`'),
  /** Requested device: `auto`, `cpu`, `cuda` or one GPU. */
  device: z.string(),
  /** Device of its last trainer; null before the first. */
  machine: z
    .object({
      host: z.string(),
      device: z.string(),
      /** Identifies a GPU independent of its number; null or absent: unknown. */
      uuid: z.string().nullish(),
      name: z.string().nullable(),
      threads: z.int(),
      /** Build of the trainer; null or absent: unknown. */
      build: z.string().nullish(),
    })
    .nullable(),
  status: openWord(runStatus),
  /** Last complete iteration; initially 0, or the checkpoint's iteration for a fork. */
  iteration: z.int(),
  iterations: z.int(),
  createdAt: z.number().describe('ms since the epoch'),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  /** Total training time without pauses and interruptions. */
  trainingSeconds: z.number(),
  phase: phase.nullable(),
  /** Remaining seconds at the pace of the last iterations; null if unknown or not running. */
  etaSeconds: z.number().nullable(),
  /** Newest values of a few metrics, such as success rates and reward_mean. */
  latest: metrics,
  /** Panels of its evaluations; empty before the first. */
  panels: z.array(panel),
  failure: apiError.nullable(),
  /** The early-stop rule that ended the run, as a sentence; null otherwise. */
  stopReason: z.string().nullable(),
  /** 1 for the next run; null if not queued. */
  queuePosition: z.int().nullable(),
  stalled: stall.nullable(),
  /** Its newest job on a cluster; null if the run was never submitted, or the job was not read yet. */
  job: runJob.nullable(),
  /** The run's sweep, if any. */
  study: studyOfRun.nullable(),
  marks: runMarks,
  /** The run it was created from, which may be deleted, and the checkpoint's iteration (null if only the configuration was copied). */
  parent: z.object({ run: runId, iteration: z.int().nullable() }).nullable(),
  /** State of the Echo Trap monitor; null without data. */
  trap: trapBrief.nullable(),
  /** Null unless the run is shown as collapsed: its success is now less than half of its peak. Independent of `trap`. */
  collapse: runCollapse.nullable(),
  /** The last action on an alarm; null if none. */
  lastAction: alertAction.nullable(),
});
export type RunSummary = z.infer<typeof runSummary>;

/**
 * One metric over iterations, as arrays of equal length. A downsampled entry has the last iteration and the mean of the points that it
 * covers.
 */
export const series = z.object({
  name: z.string(),
  iterations: z.array(z.int()),
  values: z.array(z.number()),
  /** Minimum, maximum and number of points per entry; absent without downsampling. */
  buckets: z.object({ min: z.array(z.number()), max: z.array(z.number()), counts: z.array(z.int()) }).optional(),
});
export type Series = z.infer<typeof series>;

/** End times of iterations in ms since the epoch, ascending; iteration 0 is the start of training. Iterations may be missing. */
export const iterationTimes = z.object({
  iterations: z.array(z.int()),
  times: z.array(z.number()),
});
export type IterationTimes = z.infer<typeof iterationTimes>;

export const logLine = z.object({
  seq: z.int(),
  time: z.number(),
  /** `info`, `warning`, `error`, or a value from a newer trainer. */
  level: z.string(),
  message: z.string(),
});
export type LogLine = z.infer<typeof logLine>;

/** A line of the journal; `body` has the fields of its type (docs/formats/journal.md). */
export const journalEvent = z.object({
  seq: z.int(),
  time: z.number(),
  type: z.string(),
  body: z.record(z.string(), z.unknown()),
});
export type JournalEvent = z.infer<typeof journalEvent>;

/** Memory plan (docs/formats/journal.md): parts with lifetimes `rollout` and `update` share memory. */
export const memoryPart = z.object({
  name: z.string(),
  /** `run`, `rollout`, `update`, or a value from a newer trainer. */
  lifetime: z.string(),
  bytes: z.number(),
});
export type MemoryPart = z.infer<typeof memoryPart>;

export const memoryPlan = z.object({
  device: z.string(),
  device_bytes: z.number(),
  free_bytes: z.number().describe('free before the run allocated memory'),
  total_bytes: z.number(),
  parts: z.array(memoryPart),
});
export type MemoryPlan = z.infer<typeof memoryPlan>;

/** An item of the first-step check (docs/formats/journal.md). */
export const firstStepItem = z.object({
  name: z.string(),
  title: z.string(),
  unit: z.string().describe('`nats`, `share`, or empty'),
  /** Null if it could not be measured. */
  value: z.number().nullable(),
  /** Usual range; null where it is open. */
  low: z.number().nullable(),
  high: z.number().nullable(),
  /** `ok`, `suspicious`, `wrong`, or a value from a newer trainer. */
  verdict: z.string(),
  message: z.string(),
  setting: z.string().describe('path in run.json of the setting to change, or empty'),
});
export type FirstStepItem = z.infer<typeof firstStepItem>;

/** Checks of the first update of a run. */
export const firstStepCheck = z.object({ iteration: z.int(), checks: z.array(firstStepItem) });
export type FirstStepCheck = z.infer<typeof firstStepCheck>;

/** A published model that presets start from. */
export const modelCard = z.object({
  name: z.string(),
  title: z.string(),
  repository: z.string().describe('on Hugging Face'),
  license: z.string(),
});
export type ModelCard = z.infer<typeof modelCard>;

/** Reports whether a run can start from a model folder. */
export const modelState = z.object({
  /** Null if none was found. */
  folder: z.string().nullable(),
  parameters: z.number().nullable(),
  problem: apiError.nullable(),
});
export type ModelState = z.infer<typeof modelState>;

const checkpointIteration = z.int().min(0).max(1_000_000);

/**
 * Source of a new run: a preset, another run's configuration, a checkpoint of another run to fork (docs/formats/run-config.md, Start), or a
 * complete configuration.
 */
export const runSource = z.union([
  z.object({ preset: z.string().max(64) }),
  z.object({ run: runId, checkpoint: checkpointIteration, keepOptimizer: z.boolean().default(false) }),
  z.object({ run: runId, checkpoint: z.undefined().optional() }),
  z.object({
    config: z.record(z.string(), z.unknown()).refine((config) => !isNestedTooDeeply(config), 'is nested too deeply'),
  }),
]);
export type RunSource = z.infer<typeof runSource>;

/** Commands for a trainer; `pin` and `unpin` name a checkpoint. */
export const runCommand = z.union([
  z.object({ command: z.enum(['pause', 'resume', 'checkpoint', 'stop']) }),
  z.object({ command: z.enum(['pin', 'unpin']), iteration: checkpointIteration }),
]);
export type RunCommand = z.infer<typeof runCommand>;
