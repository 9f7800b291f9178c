import { z } from 'zod';
import { madeExport } from './exports.ts';
import { apiError, runId } from './runs.ts';

/** Managing runs: disk use, cleaning, trash, checkpoints, bundles and episode search. */

const empty = z.object({});
/** Marks procedures that write to the data folder, as in contract.ts. */
const changes = true;
const runIds = z.array(runId).min(1).max(1000);

/** A run for which an operation was rejected, and the error. */
export const refusal = z.object({ runId, error: apiError });
export type Refusal = z.infer<typeof refusal>;

/** Disk use of the data folder, in bytes. */
const diskUse = z.object({
  runs: z.array(z.object({ runId, total: z.number() })),
  trash: z.number(),
  free: z.number(),
});
export type DiskUse = z.infer<typeof diskUse>;

/** A run in the trash. */
export const trashedRun = z.object({
  /** Id in the trash; restoring brings back the run's own id. */
  id: z.string().regex(/^[a-z0-9-]{1,64}\.\d{1,15}$/),
  runId,
  name: z.string(),
  deletedAt: z.number().describe('ms since the epoch'),
  /** Time of permanent deletion. */
  until: z.number().describe('ms since the epoch'),
  bytes: z.number(),
});
export type TrashedRun = z.infer<typeof trashedRun>;
const trashIds = z.array(trashedRun.shape.id).min(1).max(1000);

/** Runs moved to the trash, and runs that could not be moved. */
export const deletedRuns = z.object({ deleted: z.array(trashedRun), refused: z.array(refusal) });

/** Selects what cleaning deletes. */
export const cleaning = z.object({
  /** Training episodes; evaluation episodes are kept. */
  episodes: z.boolean(),
  /** Checkpoints, except the first, the newest, the best evaluated, pinned ones and those that other runs still need. */
  checkpoints: z.boolean(),
});
export type Cleaning = z.infer<typeof cleaning>;

const checkpointIteration = z.int().min(0).max(1_000_000);

export const checkpoint = z.object({
  iteration: checkpointIteration,
  bytes: z.number(),
  pinned: z.boolean(),
  /** Whether it has its optimizer state, so that training can resume exactly. */
  optimizer: z.boolean(),
  /** Success by environment, in [0, 1], in evaluations during training or requested ones with the same settings. */
  success: z.array(z.object({ label: z.string(), rate: z.number() })),
});
export type Checkpoint = z.infer<typeof checkpoint>;

/** Optional parts of a bundle, besides configuration, journal, marks and evaluations. */
export const bundleChoice = z.object({
  checkpoints: z.enum(['none', 'newest', 'all']),
  episodes: z.enum(['none', 'evaluations', 'all']),
});
export type BundleChoice = z.infer<typeof bundleChoice>;

/** A matching episode; matches in texts are between `\u0002` and `\u0003`. */
const foundEpisode = z.object({
  runId,
  run: z.string().describe("the run's name"),
  iteration: z.int(),
  split: z.string(),
  episodeId: z.string(),
  environment: z.string(),
  success: z.boolean(),
  reward: z.number(),
  excerpt: z.string(),
});
export type FoundEpisode = z.infer<typeof foundEpisode>;

export const libraryProcedures = {
  /** Sizes of unchanged runs are cached for a while. */
  'runs.sizes': { input: empty, output: diskUse },
  /** Moves runs to the trash. Running, paused and evaluated runs are rejected. */
  'runs.delete': {
    changes,
    input: z.object({ runIds }),
    output: deletedRuns,
  },
  /** Permanently deletes files that are no longer needed, as a task; returns the freed bytes at its end or when canceled. */
  'runs.clean': {
    changes,
    input: z.object({ runIds, ...cleaning.shape }),
    output: z.object({ bytes: z.number(), refused: z.array(refusal) }),
  },
  /** Returns the bytes that cleaning would free. */
  'runs.cleanable': {
    input: z.object({ runIds }),
    output: z.object({ episodes: z.number(), checkpoints: z.number(), refused: z.array(refusal) }),
  },
  /** Newest first. */
  'trash.list': { input: empty, output: z.array(trashedRun) },
  /** Restores runs. Throws `trash_unknown`, or `run_exists` if the id is in use again. */
  'trash.restore': { changes, input: z.object({ ids: trashIds }), output: z.array(runId) },
  /** Permanently deletes everything in the trash, as a task; returns the freed bytes. */
  'trash.empty': { changes, input: empty, output: z.object({ bytes: z.number() }) },
  /** Newest first. */
  'checkpoints.list': { input: z.object({ runId }), output: z.array(checkpoint) },
  /** Pins or unpins a checkpoint; cleaning and checkpoint.keep spare pinned ones. Throws `checkpoint_missing` or `command_refused`. */
  'checkpoints.pin': {
    changes,
    input: z.object({ runId, iteration: checkpointIteration, pinned: z.boolean() }),
    output: empty,
  },
  /** Packs a run into one file, as a task; returns its location, like other exports. `ownRuns`: not for the sample run. */
  'bundles.export': { ownRuns: true, input: z.object({ runId, ...bundleChoice.shape }), output: madeExport },
  /** Finds episodes whose reasoning or action contains all words, newest first; without words, all. Returns up to `limit` from `offset`. */
  'episodes.search': {
    input: z.object({
      text: z.string().max(400),
      runId: runId.optional(),
      environment: z.string().max(64).optional(),
      success: z.boolean().optional(),
      offset: z.int().min(0).max(10_000).optional(),
      limit: z.int().min(1).max(100).optional(),
    }),
    output: z.object({
      episodes: z.array(foundEpisode),
      more: z.boolean(),
      /** Number of indexed episodes, and of files still to index. */
      indexed: z.int(),
      pending: z.int(),
    }),
  },
} as const;

export const libraryNotices = {
  /** The contents of the trash changed. */
  trash: empty,
  /** A checkpoint of the run was written, pinned or deleted. */
  checkpoints: z.object({ runId, written: z.int().nullable() }),
} as const;
