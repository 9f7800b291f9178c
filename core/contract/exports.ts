import { z } from 'zod';
import { apiError, runId, studyId } from './runs.ts';

/** What can be made of a run; of a study, `markdown` and `latex` alone. */
export const exportFormat = z.enum([
  'csv',
  'jsonl',
  'parquet',
  'tensorboard',
  'hugging-face',
  'markdown',
  'latex',
  'methods',
]);
export type ExportFormat = z.infer<typeof exportFormat>;

export const exportId = z.string().regex(/^[0-9a-f]{32}$/);

/** What is exported: a run, at one of its checkpoints where the format is about one (else the newest), or a study. */
export const exportSource = z.union([
  z.object({ runId, checkpoint: z.number().int().min(0).max(1_000_000).optional() }),
  z.object({ studyId }),
]);
export type ExportSource = z.infer<typeof exportSource>;

/** Files that wait to be taken: in `folder` on core's machine, or from `/api/exports/ID/NAME`. They go when they are forgotten, and with core. */
export const madeExport = z.object({
  exportId,
  folder: z.string(),
  files: z.array(z.object({ name: z.string(), bytes: z.number() })),
});
export type MadeExport = z.infer<typeof madeExport>;

/** Whether metrics are written for TensorBoard while runs train, where, and why they can't be. */
export const tensorBoardState = z.object({
  on: z.boolean(),
  /** On core's machine, with a folder for each run. */
  folder: z.string(),
  problem: apiError.nullable(),
});
export type TensorBoardState = z.infer<typeof tensorBoardState>;

/** Procedures of exports; `changes` as in contract.ts. */
export const exportProcedures = {
  /**
   * Exports a run or sweep as a task (`export`) and answers when the files exist; `packed`: as one file, a zip if there are several. Throws `run_unknown`,
   * `study_unknown`, `export_unsuitable`, `checkpoint_missing`, `rollout_corrupt`, `disk_full` or `task_cancelled`.
   */
  'exports.make': {
    input: z.object({ of: exportSource, format: exportFormat, packed: z.boolean().optional() }),
    output: madeExport,
  },
  /** Texts to be shown and copied. Throws as `exports.make` does. */
  'exports.text': {
    input: z.object({ of: exportSource, format: z.enum(['markdown', 'latex', 'methods']) }),
    output: z.object({ text: z.string() }),
  },
  /** Deletes what was made; nothing where it is gone already. */
  'exports.forget': { input: z.object({ exportId }), output: z.object({}) },
  'tensorBoard.get': { input: z.object({}), output: tensorBoardState },
  /** For the whole data folder, from now on. Throws `disk_full` or `tensorboard_unwritable` where it can't be switched on. */
  'tensorBoard.set': { changes: true, input: z.object({ on: z.boolean() }), output: tensorBoardState },
} as const;

export const exportNotices = {
  /** It was switched on or off, or writing has become possible or impossible. */
  tensorBoard: tensorBoardState,
} as const;
