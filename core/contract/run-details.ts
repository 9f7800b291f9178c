import { z } from 'zod';
import { runId } from './runs.ts';

/** A value of run.json. */
const settingValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type RunSetting = z.infer<typeof settingValue>;

/** Returns all values of a configuration by path, such as `environments.0.config.size`. */
export function leavesOf(config: unknown): Map<string, RunSetting> {
  const values = new Map<string, RunSetting>();
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null)
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`);
    else if (path !== '') values.set(path, value as RunSetting);
  };
  visit(config, '');
  return values;
}

/** The settings of several runs, by column to avoid repeating the paths. */
export const runSettings = z.object({
  runIds: z.array(runId),
  /** `path`: for example `optimizer.learning_rate`. One value per run of `runIds`; null if the run has none. */
  settings: z.array(z.object({ path: z.string(), values: z.array(settingValue) })),
});
export type RunSettings = z.infer<typeof runSettings>;

/** Histograms of the rewards of training episodes, one per iteration. */
export const rewardHistogram = z.object({
  /** Center of the first bin, and the distance between centers. A bin extends half a step to each side. */
  first: z.number(),
  step: z.number(),
  bins: z.int(),
  /** Iterations whose episodes are indexed, ascending. `counts` has the episodes per bin. */
  iterations: z.array(z.object({ iteration: z.int(), counts: z.array(z.int()) })),
});
export type RewardHistogram = z.infer<typeof rewardHistogram>;

/** Part of an iteration, in ms since the epoch. */
const timeSpan = z.object({
  /** A phase of the trainer, or `write` for writing episodes, which happens during the update. */
  name: z.string(),
  iteration: z.int(),
  start: z.number(),
  end: z.number(),
});
export type TimeSpan = z.infer<typeof timeSpan>;

/** When the phases of an iteration and its neighbors began and ended. */
export const iterationTimeline = z.object({
  iteration: z.int(),
  /** The first and last iteration that can be requested. */
  first: z.int(),
  last: z.int(),
  /** Ordered by start. */
  spans: z.array(timeSpan),
});
export type IterationTimeline = z.infer<typeof iterationTimeline>;

export const detailProcedures = {
  /** Returns the settings of these runs, by default of all. Omits unknown runs and those whose run.json can't be read. */
  'runs.settings': { input: z.object({ runIds: z.array(runId).optional() }), output: runSettings },
  /** Returns the timeline of an iteration, by default the newest; null if the journal has no phases, as in imported runs. */
  'runs.timeline': {
    input: z.object({ runId, iteration: z.int().optional() }),
    output: iterationTimeline.nullable(),
  },
  /** Returns the rewards of the training episodes that are still stored. */
  'rollouts.rewards': { input: z.object({ runId }), output: rewardHistogram },
};
