import { z } from 'zod';
import { madeExport } from './exports.ts';
import { apiError, runId } from './runs.ts';

/** What becomes of runs beside their training: disk use, cleaning, deleting and taking back, checkpoints, bundles, and the search over what was thought. */

const empty = z.object({});
/** Marks what writes to the data folder, as in contract.ts. */
const changes = true;
const runIds = z.array(runId).min(1).max(1000);

/** A run that something wasn't done to, and why. */
export const refusal = z.object({ runId, error: apiError });
export type Refusal = z.infer<typeof refusal>;

/** What the data folder takes on disk, in bytes. */
export const diskUse = z.object({
  runs: z.array(z.object({ runId, rollouts: z.number(), checkpoints: z.number(), total: z.number() })),
  trash: z.number(),
  free: z.number(),
});
export type DiskUse = z.infer<typeof diskUse>;

/** A deleted run that can still be taken back. */
export const trashedRun = z.object({
  /** Of its place in the trash; the run's own id comes back with it. */
  id: z.string().regex(/^[a-z0-9-]{1,64}\.\d{1,15}$/),
  runId,
  name: z.string(),
  deletedAt: z.number().describe('ms since the epoch'),
  /** When it is deleted for good. */
  until: z.number().describe('ms since the epoch'),
  bytes: z.number(),
});
export type TrashedRun = z.infer<typeof trashedRun>;
const trashIds = z.array(trashedRun.shape.id).min(1).max(1000);

/** Runs that went to the trash, and those that had to stay. */
export const deletedRuns = z.object({ deleted: z.array(trashedRun), refused: z.array(refusal) });

/** What a cleaning leaves out. */
export const cleaning = z.object({
  /** Episodes of training; those of evaluations stay. */
  episodes: z.boolean(),
  /** Checkpoints; the first, the newest, the best evaluated, pinned ones and those that other runs go on from stay. */
  checkpoints: z.boolean(),
});
export type Cleaning = z.infer<typeof cleaning>;

const checkpointIteration = z.number().int().min(0).max(1_000_000);

export const checkpoint = z.object({
  iteration: checkpointIteration,
  bytes: z.number(),
  pinned: z.boolean(),
  /** Whether it has its optimiser state: training can go on from it exactly as it stood. */
  optimizer: z.boolean(),
  /** Success of the run's own evaluations at it, in [0, 1], by environment. */
  success: z.array(z.object({ label: z.string(), rate: z.number() })),
});
export type Checkpoint = z.infer<typeof checkpoint>;

/** What of a run goes into a bundle beside its configuration, journal, marks and evaluations. */
export const bundleChoice = z.object({
  checkpoints: z.enum(['none', 'newest', 'all']),
  episodes: z.enum(['none', 'evaluations', 'all']),
});
export type BundleChoice = z.infer<typeof bundleChoice>;

/** A bundle that is being brought. */
export const fileId = z.string().regex(/^[0-9a-f]{32}$/);
/** No bundle is larger: 1 TiB. */
const mostBytes = 2 ** 40;

/** An episode that was found; texts have the found words between `\u0002` and `\u0003`. */
export const foundEpisode = z.object({
  runId,
  run: z.string().describe("the run's name"),
  iteration: z.number().int(),
  split: z.string(),
  episodeId: z.string(),
  environment: z.string(),
  success: z.boolean(),
  reward: z.number(),
  excerpt: z.string(),
});
export type FoundEpisode = z.infer<typeof foundEpisode>;

export const libraryProcedures = {
  /** Runs whose files haven't changed since aren't measured again for a while. */
  'runs.sizes': { input: empty, output: diskUse },
  /** Moves runs to the trash. One that is trained, paused or evaluated stays, and the answer says so. */
  'runs.delete': {
    changes,
    input: z.object({ runIds }),
    output: deletedRuns,
  },
  /** Deletes what can be done without, for good, as a task; answers at its end, or when it was given up, with the bytes that were freed. */
  'runs.clean': {
    changes,
    input: z.object({ runIds, ...cleaning.shape }),
    output: z.object({ bytes: z.number(), refused: z.array(refusal) }),
  },
  /** What a cleaning would free, in bytes. */
  'runs.cleanable': {
    input: z.object({ runIds }),
    output: z.object({ episodes: z.number(), checkpoints: z.number(), refused: z.array(refusal) }),
  },
  /** Newest first. */
  'trash.list': { input: empty, output: z.array(trashedRun) },
  /** Takes runs back. Throws `trash_unknown`, or `run_exists` where another has come to a run's name. */
  'trash.restore': { changes, input: z.object({ ids: trashIds }), output: z.array(runId) },
  /** Deletes all that is in the trash for good, as a task; answers at its end with the bytes that were freed. */
  'trash.empty': { changes, input: empty, output: z.object({ bytes: z.number() }) },
  /** Newest first. */
  'checkpoints.list': { input: z.object({ runId }), output: z.array(checkpoint) },
  /** Keeps a checkpoint's optimiser state, and the checkpoint itself from being cleaned away; or no longer. Throws `checkpoint_missing`, or `command_refused` by the trainer. */
  'checkpoints.pin': {
    changes,
    input: z.object({ runId, iteration: checkpointIteration, pinned: z.boolean() }),
    output: empty,
  },
  /** Packs a run into one file, as a task; answers at its end with where it waits to be taken, as other exports do. */
  'bundles.export': { changes, input: z.object({ runId, ...bundleChoice.shape }), output: madeExport },
  /**
   * Begins to bring a bundle: a page sends its `bytes` with `PUT /api/bundles/FILE`, a program on core's machine that doesn't say how many puts the file at `path`. Throws
   * `disk_space_low`.
   */
  'bundles.begin': {
    changes,
    input: z.object({ bytes: z.number().int().min(1).max(mostBytes).optional() }),
    output: z.object({ file: fileId, path: z.string() }),
  },
  /** Takes in the run of a bundle that was brought whole, as a task; answers at its end. Throws `file_incomplete`, `bundle_invalid`, `bundle_version_unsupported`, `disk_space_low`. */
  'bundles.import': { changes, input: z.object({ file: fileId }), output: z.object({ runId }) },
  /** Lets go of a bundle that was, or isn't yet, brought. */
  'bundles.drop': { changes, input: z.object({ file: fileId }), output: empty },
  /** Episodes whose thoughts or answers hold all words, the best matches first; with no words the newest. At most `limit` from `offset` on. */
  'episodes.search': {
    input: z.object({
      text: z.string().max(400),
      runId: runId.optional(),
      environment: z.string().max(64).optional(),
      success: z.boolean().optional(),
      offset: z.number().int().min(0).max(10_000).optional(),
      limit: z.number().int().min(1).max(100).optional(),
    }),
    output: z.object({
      episodes: z.array(foundEpisode),
      more: z.boolean(),
      /** Episodes that can be found at present, and files that are still to be read. */
      indexed: z.number().int(),
      pending: z.number().int(),
    }),
  },
} as const;

export const libraryNotices = {
  /** What is in the trash has changed. */
  trash: empty,
  /** A run's checkpoints have changed: one was written, pinned or cleaned away. */
  checkpoints: z.object({ runId, written: z.number().int().nullable() }),
} as const;
