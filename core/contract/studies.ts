import { z } from 'zod';
import { settings } from './configuration.ts';
import { runKind, runLabel } from './echo-trap.ts';
import { openWord } from './open-words.ts';
import { runId, runStatus, studyId, studyName } from './runs.ts';

/** What is varied: a name, and what it changes in run.json. */
export const studyPoint = z.object({ name: z.string().min(1).max(64), set: settings });
export type StudyPoint = z.infer<typeof studyPoint>;

export const studyPoints = z.array(studyPoint).min(1).max(200);
export const studySeeds = z.array(z.number().int().min(0).max(0xffffffff)).min(1).max(100);

/** `created`: no run has begun; `active`: some run is queued or trained; `incomplete`: none is, and not all are complete. */
export const studyState = z.enum(['created', 'active', 'incomplete', 'completed']);
export type StudyState = z.infer<typeof studyState>;

export const studySummary = z.object({
  id: studyId,
  name: studyName,
  /** ms since the epoch. */
  created: z.number(),
  /** What its runs are made from, in words: a preset, a run, `run@iteration`, or `configuration`. */
  base: z.string(),
  /** Label of the environment whose success is judged. */
  environment: z.string(),
  points: z.array(z.string()),
  seeds: studySeeds,
  state: studyState,
  /** Runs, of points times seeds, by what became of them. */
  runs: z.object({
    total: z.number().int(),
    completed: z.number().int(),
    active: z.number().int(),
    failed: z.number().int(),
  }),
});
export type StudySummary = z.infer<typeof studySummary>;

/** A mean over seeds with Student's 95 % interval; no interval for a single seed. */
export const estimate = z.object({
  n: z.number().int(),
  mean: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
});
export type Estimate = z.infer<typeof estimate>;

/** Success rates; null if not available (yet). */
const outcome = <T extends z.ZodType>(value: T) => ({
  /** Of the evaluation before training. */
  before: value.nullable(),
  /** Of the newest evaluation. */
  after: value.nullable(),
  /** Of the training episodes of the last ten iterations. */
  training: value.nullable(),
});

/** One point with one seed. */
export const studyCell = z.object({
  runId,
  seed: z.number().int(),
  /** `missing`: not made yet, or deleted. */
  status: openWord(z.enum([...runStatus.options, 'missing'])),
  iteration: z.number().int(),
  iterations: z.number().int(),
  ...outcome(z.number()),
  /** Of a complete run that is long enough for one; else null. */
  label: runLabel.nullable(),
});
export type StudyCell = z.infer<typeof studyCell>;

/** How many of a point's runs collapsed, of those that have a label, with Wilson's 95 % interval of that share. */
export const studyCollapse = z.object({
  n: z.number().int().min(1),
  collapsed: z.number().int(),
  low: z.number(),
  high: z.number(),
  /** Iterations from which on they fell, the least first. */
  onsets: z.array(z.number().int()),
  /** Runs by what became of them; a kind that none is of is left out. */
  kinds: z.partialRecord(runKind, z.number().int()),
});
export type StudyCollapse = z.infer<typeof studyCollapse>;

/** A point: its runs, and estimates over those that are complete (`before`: over all that were evaluated). */
export const studyRow = z.object({
  ...studyPoint.shape,
  cells: z.array(studyCell),
  ...outcome(estimate),
  /** Null where no run has a label. */
  collapse: studyCollapse.nullable(),
});
export type StudyRow = z.infer<typeof studyRow>;

/** A deleted study that can still be taken back. */
export const trashedStudy = z.object({
  studyId,
  name: z.string(),
  deletedAt: z.number().describe('ms since the epoch'),
  /** When it is deleted for good. */
  until: z.number().describe('ms since the epoch'),
});
export type TrashedStudy = z.infer<typeof trashedStudy>;

export const study = z.object({ summary: studySummary, table: z.array(studyRow) });
export type Study = z.infer<typeof study>;
