import { z } from 'zod';
import { openWord } from './open-words.ts';

/** State of the Echo Trap monitor for a run: state, evidence and advice. docs/formats/metrics.md defines the metrics. */

/**
 * `healthy`; `solved`: success stays at its peak; `narrowing`: reasoning loses its variety while success still changes; `locked`: the same reasoning for every level, with flat success;
 * `watch`: elevated risk, or an early signal without a risk score; `warning`: high risk of collapse; `collapsing`: high risk and falling success; `collapsed`: success has fallen and stays low.
 */
export const trapState = z.enum([
  'healthy',
  'solved',
  'watch',
  'narrowing',
  'locked',
  'warning',
  'collapsing',
  'collapsed',
]);
export type TrapState = z.infer<typeof trapState>;

/** `unmeasured`: without a warning, but also without the metrics for a verdict. Such a run is never `healthy`. */
export const trapVerdict = z.enum([...trapState.options, 'unmeasured']);
export type TrapVerdict = z.infer<typeof trapVerdict>;

/** Level of an alert; `warning` and above are alarms. A narrowing or locked run raises `watch`. */
export const trapLevel = z.enum(['watch', 'warning', 'collapsing', 'collapsed']);
export type TrapLevel = z.infer<typeof trapLevel>;

/** Failure mode. The first four are from RAGEN-2, classified by entropy and by mutual information between reasoning and level; `chaos`: entropy rises and responses become malformed. */
export const trapRegime = z.enum(['healthy', 'template', 'compressed', 'entropy_collapse', 'chaos', 'unknown']);
export type TrapRegime = z.infer<typeof trapRegime>;

/** Outcome of a whole run (docs/collapse-rule.md); the first two are collapses. */
export const runKind = z.enum(['template', 'chaos', 'locked', 'healthy', 'solved', 'declining']);
export type RunKind = z.infer<typeof runKind>;

/** `collapsed` is the iteration at which the collapse began, or null. */
export const runLabel = z.object({ collapsed: z.int().nullable(), kind: runKind });
export type RunLabel = z.infer<typeof runLabel>;

/** A metric's value and the run's baseline. */
const measured = z.object({
  /** Metric name; empty if the run has no such metric, or if the signal does not come from a single metric. */
  series: z.string(),
  /** Smoothed value; null if unknown. */
  value: z.number().nullable(),
  baseline: z.number().nullable(),
  /** Iteration since which it has been on; null while off. */
  since: z.int().nullable(),
});

/** A group of signals. The first four are the paper's, in its order. Its value is of the first of its metrics that the run measures. */
const trapIndicator = measured.extend({
  name: z.enum(['reward_std', 'entropy', 'gradient', 'diversity', 'format', 'success']),
  /** `on` if one of its signals is evidence for the state. Never `on` in a healthy or solved run. `unknown` without data. */
  state: z.enum(['on', 'off', 'unknown']),
  /** Names of the signals that turn it on. */
  signals: z.array(z.string()),
});
export type TrapIndicator = z.infer<typeof trapIndicator>;

/** One detector. */
const trapSignal = measured.extend({
  /** Stable id: `reward_std_falls`, `template_share_rises`, ... */
  name: z.string(),
  /** Display title. */
  title: z.string(),
  /** One sentence about its usual meaning. */
  meaning: z.string(),
  /** `setting`: a configuration value, never on; `early`: before the reward falls; `late`: about when it falls; `confirming`: after it has fallen. */
  stage: z.enum(['setting', 'early', 'late', 'confirming']),
  /** What the baseline is: the run's first iterations (`usual`), or its `best` or `lowest` value so far. */
  reference: z.enum(['usual', 'best', 'lowest']),
  /** Failure mode that the signal indicates; null if it can indicate either. */
  regime: trapRegime.nullable(),
  on: z.boolean(),
  /** Current threshold; null if unknown. */
  threshold: z.number().nullable(),
  /** Whether values above or below the threshold are evidence of collapse; null if unknown. */
  worse: z.enum(['above', 'below']).nullable(),
  /** Consecutive iterations beyond the threshold so far, and those needed to turn the signal on. */
  beyond: z.int(),
  needed: z.int(),
  /** Current contribution to the risk score. */
  contribution: z.number(),
  /** Most extreme value since it turned on; null while off. */
  extreme: z.number().nullable(),
});
export type TrapSignal = z.infer<typeof trapSignal>;

/** Position of a run on the regime map. Both coordinates are relative, 0 to about 1. */
const regimePoint = z.object({
  iteration: z.int(),
  /** Response entropy relative to the run's first iterations; may exceed 1. */
  entropy: z.number(),
  /** Dependence of reasoning on the level: 0 means the same reasoning for every level. */
  dependence: z.number(),
});
export type RegimePoint = z.infer<typeof regimePoint>;

const regimeMap = z.object({
  regime: trapRegime,
  /** What names the regime: the `state` (a calm run is healthy anywhere on the map), the active `signals`, or the quadrant of the `position`. */
  namedBy: z.enum(['state', 'signals', 'position']),
  /** Newest position; null while a coordinate is unknown. */
  position: regimePoint.nullable(),
  /** Up to 200 positions, oldest first, including the newest. */
  trail: z.array(regimePoint),
  /** Point where the quadrants meet. */
  cross: z.object({ entropy: z.number(), dependence: z.number() }),
  /** Metrics behind the two coordinates. */
  series: z.object({ entropy: z.string(), dependence: z.string() }),
});
export type RegimeMap = z.infer<typeof regimeMap>;

/** A changed key of run.json. */
const settingChange = z.object({
  path: z.string().describe('as in optimizer.learning_rate'),
  value: z.union([z.string(), z.number(), z.boolean()]),
});
export type SettingChange = z.infer<typeof settingChange>;

/** Effect of applying a piece of advice. */
const adviceAction = z.discriminatedUnion('kind', [
  /** Sent to the trainer with `runs.command`. */
  z.object({ kind: z.literal('command'), command: z.enum(['pause', 'checkpoint', 'stop']) }),
  /** Stops the run and forks it, with changes, from a checkpoint at or before `notAfter`. */
  z.object({
    kind: z.literal('rollback'),
    notAfter: z.int(),
    /** The checkpoint that it would use; null while unknown. */
    checkpoint: z.int().nullable(),
    changes: z.array(settingChange),
  }),
]);
export type AdviceAction = z.infer<typeof adviceAction>;

export const advice = z.object({
  /** Stable identifier, such as `pause` or `gentler_rate`. */
  id: z.string(),
  title: z.string(),
  why: z.string(),
  action: adviceAction,
  /** False if it has no effect in this configuration, for the given `reason`; then it is not offered. */
  acts: z.boolean(),
  reason: z.string().nullable(),
  /** Whether the automatic action `rollback` uses it in this regime. */
  preferred: z.boolean(),
});
export type Advice = z.infer<typeof advice>;

/** Origin of the thresholds. */
export const trapCalibration = z.object({
  /** `shipped` with the app, or `fitted` by `starpo calibrate --fit` on this machine. */
  source: z.enum(['shipped', 'fitted']),
  /** Models, environments and number of runs used for calibration. */
  models: z.array(z.string()),
  runs: z.int(),
  /** Display text with limitations. */
  note: z.string(),
});
export type TrapCalibration = z.infer<typeof trapCalibration>;

/** The monitor's full state at the newest processed iteration. */
export const echoTrap = z.object({
  state: trapVerdict,
  /** Iteration at which this state began. */
  since: z.int(),
  /** Newest processed iteration; 0 before the first. */
  iteration: z.int(),
  /** One sentence about the state. */
  summary: z.string(),
  /** The strongest evidence in words, at most two signals with current and usual values; empty for a healthy or solved run. */
  why: z.array(z.string()),
  /** Risk score: the sum of the signals' contributions; 1 or more triggers a warning if two families of signals, a persistent one or a decisive one back it. Null if the paper's rule is used instead. */
  risk: z.number().nullable(),
  /** Measured share of runs at this risk that collapse within 40 iterations; null without a risk score, with fitted thresholds or after a collapse. */
  collapseRate: z.number().nullable(),
  /** A warning starts at the risk `warn` and clears after `calmFor` iterations below `clear`. */
  riskLimits: z.object({ warn: z.number(), clear: z.number(), calmFor: z.int() }),
  /** Start of the current warning or collapse and the risk score at that iteration; null without one. */
  warned: z.object({ iteration: z.int(), risk: z.number().nullable() }).nullable(),
  /** Up to 200 risk scores, oldest first, including the newest, each with whether the state was a warning or worse. */
  riskHistory: z.array(z.object({ iteration: z.int(), risk: z.number(), alarm: z.boolean() })),
  /** Newest iteration without alarm, elevated risk, chaos or late signals, and in a narrowing or locked run also before that state. A roll-back uses a checkpoint at or before it. */
  lastHealthy: z.int().nullable(),
  indicators: z.array(trapIndicator),
  map: regimeMap,
  signals: z.array(trapSignal),
  /** States with their first iterations, oldest first. */
  history: z.array(z.object({ iteration: z.int(), state: trapState })),
  /** Advice for the current regime and configuration; may be empty. */
  advice: z.array(advice),
  calibration: trapCalibration,
});
export type EchoTrap = z.infer<typeof echoTrap>;

export const actionOrigin = z.enum(['monitor', 'user']);
export const actionKind = z.enum(['pause', 'checkpoint', 'stop', 'rollback']);
/** `begun` actions are resumed by the next host if this host exits. */
export const actionState = z.enum(['begun', 'done', 'failed']);

/** An action on an alarm, automatic or by a user. */
export const alertAction = z.object({
  id: z.string(),
  /** Start and last change, in ms since the epoch. */
  time: z.number(),
  changedAt: z.number(),
  by: openWord(actionOrigin),
  kind: openWord(actionKind),
  state: openWord(actionState),
  /** The alert it answers; null for a user action without an alert. */
  alert: z.string().nullable(),
  /** For a roll-back: its checkpoint, the fork and the fork's changes. */
  checkpoint: z.int().nullable(),
  fork: z.string().nullable(),
  changes: z.array(settingChange),
  /** Display text: what was done, or why it failed. */
  message: z.string(),
});
export type AlertAction = z.infer<typeof alertAction>;
/** An action that this version can resume. */
export type KnownAction = AlertAction & {
  by: z.infer<typeof actionOrigin>;
  kind: z.infer<typeof actionKind>;
  state: z.infer<typeof actionState>;
};

/** State of the monitor in a run summary. */
export const trapBrief = z.object({
  state: openWord(trapVerdict),
  /** Iteration at which this state began. */
  since: z.int(),
});
export type TrapBrief = z.infer<typeof trapBrief>;
