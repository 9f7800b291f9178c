import { z } from 'zod';
import { openWord } from './open-words.ts';

/** What the Echo Trap's monitor says of a run: where it stands, why, and what helps. Shares and entropies are as docs/formats/metrics.md has them. */

/**
 * `healthy`; `solved`: success holds at its peak and nothing is left to learn; `locked`: one thought for every board, success neither falls nor rises;
 * `watch`: a risk that is worth an eye, or an early sign where there is no risk; `warning`: the risk of a fall is high; `collapsing`: it is, and success falls; `collapsed`: success has fallen and stays down.
 */
export const trapState = z.enum([
  'healthy',
  'solved',
  'locked',
  'watch',
  'warning',
  'collapsing',
  'collapsed',
]);
export type TrapState = z.infer<typeof trapState>;

/** Of an alert; `warning` and above are alarms. A locked run raises `watch`. */
export const trapLevel = z.enum(['watch', 'warning', 'collapsing', 'collapsed']);
export type TrapLevel = z.infer<typeof trapLevel>;

/** How it goes wrong. The first four are RAGEN-2's, by entropy and by what thoughts say of their boards; `chaos`: entropy rises and replies lose their form. */
export const trapRegime = z.enum([
  'healthy',
  'template',
  'compressed',
  'entropy_collapse',
  'chaos',
  'unknown',
]);
export type TrapRegime = z.infer<typeof trapRegime>;

/** What became of a whole run, by docs/collapse-rule.md; it collapsed in the first two. */
export const runKind = z.enum(['template', 'chaos', 'locked', 'healthy', 'solved', 'declining']);
export type RunKind = z.infer<typeof runKind>;

/** `collapsed`: the iteration from which on it fell, or null. */
export const runLabel = z.object({ collapsed: z.number().int().nullable(), kind: runKind });
export type RunLabel = z.infer<typeof runLabel>;

/** A number of a series beside the run's own normal. */
const measured = z.object({
  /** Name of a metric; empty where the run has none for it. */
  series: z.string(),
  /** Smoothed, as it was judged; null where it isn't known. */
  value: z.number().nullable(),
  baseline: z.number().nullable(),
  /** First iteration of the present stretch in which it is on; null while it is off. */
  since: z.number().int().nullable(),
});

/** One of the four signs in the paper's order; all four on: the Echo Trap is confirmed. */
export const trapLamp = measured.extend({
  name: z.enum(['spread', 'entropy', 'gradient', 'diversity']),
  light: z.enum(['on', 'off', 'unknown']),
});
export type TrapLamp = z.infer<typeof trapLamp>;

/** One detector. */
export const trapSignal = measured.extend({
  /** Stable: `spread_falls`, `template_spreads`, ... */
  name: z.string(),
  /** For people: "Spread of rewards falls". */
  title: z.string(),
  /** What it usually means, in a sentence. */
  meaning: z.string(),
  /** `setting`: what the run was given, which never comes on; `early`: before the reward falls; `late`: about when it falls; `confirming`: it has fallen. */
  stage: z.enum(['setting', 'early', 'late', 'confirming']),
  /** Which death it belongs to; null: either. */
  regime: trapRegime.nullable(),
  on: z.boolean(),
  /** The value at which it comes on, at present; null where it isn't known. */
  threshold: z.number().nullable(),
  /** Points that it gives to the risk at present. */
  counts: z.number(),
  /** The value farthest beyond its threshold since it came on; null while it is off. */
  extreme: z.number().nullable(),
});
export type TrapSignal = z.infer<typeof trapSignal>;

/** Where a run is on the map of regimes. Both are shares of what is normal or possible, 0 to about 1. */
export const regimePoint = z.object({
  iteration: z.number().int(),
  /** Entropy of the replies against the run's own first iterations; may pass 1. */
  entropy: z.number(),
  /** How much thoughts say of their boards: 0 the same for every board. */
  dependence: z.number(),
});
export type RegimePoint = z.infer<typeof regimePoint>;

export const regimeMap = z.object({
  regime: trapRegime,
  /** Newest position; null while one of the two isn't known. */
  position: regimePoint.nullable(),
  /** Where it came from, oldest first, the newest position included; at most 200. */
  trail: z.array(regimePoint),
  /** Where the map's quadrants meet. */
  cross: z.object({ entropy: z.number(), dependence: z.number() }),
  /** Metrics that the two coordinates come from. */
  series: z.object({ entropy: z.string(), dependence: z.string() }),
});
export type RegimeMap = z.infer<typeof regimeMap>;

/** A changed key of run.json. */
export const settingChange = z.object({
  path: z.string().describe('as in optimizer.learning_rate'),
  value: z.union([z.string(), z.number(), z.boolean()]),
});
export type SettingChange = z.infer<typeof settingChange>;

/** What an advice does when it is taken. */
export const adviceAction = z.discriminatedUnion('kind', [
  /** To the living trainer, by `runs.command`. */
  z.object({ kind: z.literal('command'), command: z.enum(['pause', 'checkpoint', 'stop']) }),
  /** Stops the run and goes on from a checkpoint at or before `notAfter` as a new run, with these changes. */
  z.object({
    kind: z.literal('rollback'),
    notAfter: z.number().int(),
    changes: z.array(settingChange),
  }),
]);
export type AdviceAction = z.infer<typeof adviceAction>;

export const advice = z.object({
  /** Stable: `pause`, `gentler_rate`, ... */
  id: z.string(),
  title: z.string(),
  why: z.string(),
  action: adviceAction,
  /** False where it would change nothing in this configuration; `reason` says why. Only those that act are offered. */
  acts: z.boolean(),
  reason: z.string().nullable(),
  /** Whether it is the one that a policy (`rollback`) takes in this regime. */
  preferred: z.boolean(),
});
export type Advice = z.infer<typeof advice>;

/** Where the thresholds come from. */
export const trapCalibration = z.object({
  /** `shipped`: as they come with the app; `fitted`: by `starpo calibrate --fit` on this machine. */
  source: z.enum(['shipped', 'fitted']),
  /** What they were calibrated on: models, environments and how many runs. */
  models: z.array(z.string()),
  runs: z.number().int(),
  /** For people, with what it can't promise. */
  note: z.string(),
});
export type TrapCalibration = z.infer<typeof trapCalibration>;

/** All that is shown of a run; of the newest judged iteration. */
export const echoTrap = z.object({
  state: trapState,
  /** Iteration in which it came into this state. */
  since: z.number().int(),
  /** Newest judged iteration; 0 before the first. */
  iteration: z.number().int(),
  /** The state in a sentence, with what was seen. */
  summary: z.string(),
  /** How near a fall is: the points of all signals together; a warning takes 1. Null where no points are counted: there the paper's rule warns. */
  risk: z.number().nullable(),
  /** Newest iteration at which nothing spoke of a fall: no alarm, a low risk, no sign of chaos and no late one. A roll-back goes to a checkpoint at or before it. */
  lastHealthy: z.number().int().nullable(),
  /** In the paper's order: spread, entropy, gradient, diversity. */
  lamps: z.array(trapLamp),
  map: regimeMap,
  signals: z.array(trapSignal),
  /** States and when they began, oldest first, the present one last. */
  history: z.array(z.object({ iteration: z.number().int(), state: trapState })),
  /** For the present regime and configuration; empty where nothing is to be done. */
  advice: z.array(advice),
  calibration: trapCalibration,
});
export type EchoTrap = z.infer<typeof echoTrap>;

export const reactor = z.enum(['policy', 'person']);
export const reactionAction = z.enum(['pause', 'checkpoint', 'stop', 'rollback']);
/** `begun`: under way; a core that ends in between leaves it to the next. */
export const reactionState = z.enum(['begun', 'done', 'failed']);

/** What was done about an alarm, by the run's own policy or by a person. */
export const trapReaction = z.object({
  id: z.string(),
  /** When it began, and when it last changed; ms since the epoch. */
  time: z.number(),
  changedAt: z.number(),
  by: openWord(reactor),
  action: openWord(reactionAction),
  state: openWord(reactionState),
  /** Alert that it answers; null where a person acted without one. */
  alert: z.string().nullable(),
  /** Of a roll-back: where it goes back to, the run that goes on from there, and what is changed in it. */
  checkpoint: z.number().int().nullable(),
  fork: z.string().nullable(),
  changes: z.array(settingChange),
  /** For people: what was done, or what kept it from being done. */
  message: z.string(),
});
export type TrapReaction = z.infer<typeof trapReaction>;
/** One that this version can take up: its own. */
export type KnownReaction = TrapReaction & {
  by: z.infer<typeof reactor>;
  action: z.infer<typeof reactionAction>;
  state: z.infer<typeof reactionState>;
};

/** In a run's summary. */
export const trapBrief = z.object({
  state: openWord(trapState),
  /** Iteration in which it came into this state. */
  since: z.number().int(),
});
export type TrapBrief = z.infer<typeof trapBrief>;
