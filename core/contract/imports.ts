import { z } from 'zod';
import { apiError, runId } from './runs.ts';

/** Importing runs from files: bundles, and metrics of other trainers and trackers. */

/** Marks procedures that write to the data folder, as in contract.ts. */
const changes = true;

/** Name of an upload. */
export const fileId = z.string().regex(/^[0-9a-f]{32}$/);
/** Maximum size of an uploaded file, such as a bundle. */
const maxUploadBytes = 2 ** 40;

/** Recognized kinds of files. */
export const importKind = z.enum([
  'bundle',
  'csv',
  'json',
  'trainer-state',
  'console',
  'tensorboard',
  'wandb',
  'mlflow',
]);
export type ImportKind = z.infer<typeof importKind>;

/** Trainers whose metric names are known. `other` recognizes common names. */
export const importSource = z.enum(['starpo', 'ragen', 'verl', 'trl', 'other']);
export type ImportSource = z.infer<typeof importSource>;

/** Uploaded files with their relative paths on the user's machine. */
const uploads = z
  .array(z.object({ file: fileId, name: z.string().min(1).max(1000) }))
  .min(1)
  .max(2000);
export type Upload = z.infer<typeof uploads>[number];

/** A run found in the uploads. */
export const importable = z.object({
  /** Identifies the run within the uploads. */
  key: z.string(),
  file: z.string(),
  kind: importKind,
  name: z.string(),
  /** Null for bundles. */
  from: importSource.nullable(),
  /** Number of steps. */
  steps: z.int(),
  /** Metrics that get a StarPO name, with their column in the file. At most 300. */
  mapped: z.array(z.object({ name: z.string(), column: z.string() })),
  mappedCount: z.int(),
  /** Metrics that keep their name, prefixed with the trainer's. At most 300. */
  unmapped: z.array(z.string()),
  unmappedCount: z.int(),
  /** Sentences about skipped or changed parts. */
  remarks: z.array(z.string()),
  /** Reason why the run can't be imported, or null. */
  problem: apiError.nullable(),
});
export type Importable = z.infer<typeof importable>;

/** The trainer. By default, it is recognized from the metric names. */
const from = importSource.optional();

export const importProcedures = {
  /**
   * Starts an upload. A page sends `bytes` bytes with `PUT /api/uploads/FILE`; a program on the server's machine omits `bytes` and writes to
   * `path`. Throws `disk_space_low`.
   */
  'uploads.begin': {
    changes,
    input: z.object({ bytes: z.int().min(0).max(maxUploadBytes).optional() }),
    output: z.object({ file: fileId, path: z.string() }),
  },
  /** Deletes uploads, complete or not. */
  'uploads.drop': { changes, input: z.object({ files: z.array(fileId).max(2000) }), output: z.object({}) },
  /** Returns the runs in uploaded files, as a task; imports nothing. A file that can't be read is reported in `problem`. Throws `file_unknown` or `file_incomplete`. */
  'imports.inspect': { changes, input: z.object({ uploads, from }), output: z.array(importable) },
  /** Imports one of these runs, as a task. Throws as `imports.inspect` does, `import_run_unknown`, the run's `problem`, `bundle_...` or `disk_...`. */
  'imports.run': {
    changes,
    input: z.object({ uploads, key: z.string().max(3000), from, name: z.string().max(80).optional() }),
    output: z.object({ runId }),
  },
} as const;

/** Returns whether a file of a chosen folder may be part of a run to import, by its path. Artifacts and weights are not. */
export const isImportable = (path: string) =>
  /(^|\/)(metrics\/.+|meta\.yaml|trainer_state\.json|[^/]*tfevents[^/]*|mlflow\.db)$|\.(wandb|csv|tsv|jsonl)$/.test(
    path,
  );
