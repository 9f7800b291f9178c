import { z } from 'zod';
import { settings } from './configuration.ts';
import { runKind, runLabel } from './echo-trap.ts';
import { openWord } from './open-words.ts';
import { panel, runId, runStatus, studyId, studyName } from './runs.ts';

/** One setting of a sweep: a name and its changes to run.json. */
const studyPoint = z.object({ name: z.string().min(1).max(64), set: settings });
export type StudyPoint = z.infer<typeof studyPoint>;

export const studyPoints = z.array(studyPoint).min(1).max(200);
export const studySeeds = z.array(z.int().min(0).max(0xffffffff)).min(1).max(100);

/** `created`: no run has started; `active`: a run is queued or running; `incomplete`: none is, and not all have completed. */
const studyState = z.enum(['created', 'active', 'incomplete', 'completed']);
export type StudyState = z.infer<typeof studyState>;

export const studySummary = z.object({
  id: studyId,
  name: studyName,
  /** ms since the epoch. */
  created: z.number(),
  /** Source of its runs, for display: a preset, a run, `run@iteration`, or `configuration`. */
  base: z.string(),
  /** Label of the environment whose success is compared. */
  environment: z.string(),
  points: z.array(z.string()),
  seeds: studySeeds,
  state: studyState,
  /** Number of runs (points times seeds) by outcome. */
  runs: z.object({
    total: z.int(),
    /** Including runs that stopped early. */
    completed: z.int(),
    active: z.int(),
    failed: z.int(),
  }),
});
export type StudySummary = z.infer<typeof studySummary>;

/** A mean over seeds, its values, and Student's 95 % interval; no interval for fewer than three seeds. */
export const estimate = z.object({
  n: z.int(),
  values: z.array(z.number()),
  mean: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
});
export type Estimate = z.infer<typeof estimate>;

/** Success rates; null if not available (yet). */
const outcome = <T extends z.ZodType>(value: T) => ({
  /** Success in the evaluation before training. */
  before: value.nullable(),
  /** Success in the newest evaluation. */
  after: value.nullable(),
  /** Success of the training episodes of the last ten iterations. */
  training: value.nullable(),
});

/** A run with one setting and one seed. */
const studyCell = z.object({
  runId,
  seed: z.int(),
  /** `missing`: not created yet, or deleted. */
  status: openWord(z.enum([...runStatus.options, 'missing'])),
  /** Whether it completed or stopped early, so that it counts in the estimates. */
  finished: z.boolean(),
  iteration: z.int(),
  iterations: z.int(),
  ...outcome(z.number()),
  /** Outcome of a finished run; null if it is not finished or too short. */
  label: runLabel.nullable(),
});
export type StudyCell = z.infer<typeof studyCell>;

/** Number of collapsed runs among a setting's labeled runs, with Wilson's 95 % interval of the share. */
const studyCollapse = z.object({
  n: z.int().min(1),
  collapsed: z.int(),
  low: z.number(),
  high: z.number(),
  /** Iterations at which they collapsed, ascending. */
  onsets: z.array(z.int()),
  /** Number of runs by outcome; outcomes without runs are omitted. */
  kinds: z.partialRecord(runKind, z.int()),
});
export type StudyCollapse = z.infer<typeof studyCollapse>;

/** One setting with its runs, and estimates over finished runs (`before`: over all evaluated runs). */
const studyRow = z.object({
  ...studyPoint.shape,
  cells: z.array(studyCell),
  ...outcome(estimate),
  /** Panels of its evaluations. */
  panels: z.array(panel),
  /** Null if no run has a label. */
  collapse: studyCollapse.nullable(),
});
export type StudyRow = z.infer<typeof studyRow>;

/** A deleted sweep that can still be restored. */
export const trashedStudy = z.object({
  studyId,
  name: z.string(),
  deletedAt: z.number().describe('ms since the epoch'),
  /** Time of permanent deletion. */
  until: z.number().describe('ms since the epoch'),
});
export type TrashedStudy = z.infer<typeof trashedStudy>;

export const study = z.object({ summary: studySummary, table: z.array(studyRow) });
export type Study = z.infer<typeof study>;

/** A sweep of a paper's study: an input of `studies.create`. */
const paperSweep = z.object({
  name: studyName,
  base: z.object({ preset: z.string() }),
  set: settings,
  points: studyPoints,
  seeds: studySeeds,
});
export type PaperSweepInput = z.infer<typeof paperSweep>;

/** A figure or table of a paper for a model. */
export const paperStudy = z.object({
  /** For example `figure-7`. */
  id: z.string(),
  title: z.string(),
  question: z.string(),
  /** The quantity that all settings have in common. */
  constant: z.string(),
  /** Parts of the paper's study that the model can't run, with the reason. */
  missing: z.array(z.string()),
  sweeps: z.array(paperSweep),
  /** Numbers in the paper for a setting of a sweep, by quantity. */
  numbers: z.array(
    z.object({
      sweep: studyName,
      point: z.string(),
      values: z.array(z.object({ quantity: z.string(), value: z.string() })),
    }),
  ),
});
export type PaperStudyFacts = z.infer<typeof paperStudy>;
