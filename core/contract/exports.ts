import { z } from 'zod';
import { apiError, runId, studyId } from './runs.ts';

/** Export formats of runs. Sweeps support only `csv`, `markdown` and `latex`. */
export const exportFormat = z.enum([
  'csv',
  'jsonl',
  'parquet',
  'traces',
  'tensorboard',
  'hugging-face',
  'markdown',
  'latex',
  'methods',
  'panels',
]);
export type ExportFormat = z.infer<typeof exportFormat>;

export const exportId = z.string().regex(/^[0-9a-f]{32}$/);

/** Source of an export: a run or a sweep. `checkpoint` is for formats that contain weights; default: the newest. */
const exportSource = z.union([
  z.object({ runId, checkpoint: z.int().min(0).max(1_000_000).optional() }),
  z.object({ studyId }),
]);
export type ExportSource = z.infer<typeof exportSource>;

/** A finished export, in `folder` on the server's machine and at `/api/exports/ID/NAME`. It is deleted by `exports.forget`, after its download by a link, after an hour, or when the server exits. */
export const madeExport = z.object({
  exportId,
  folder: z.string(),
  files: z.array(z.object({ name: z.string() })),
});
export type MadeExport = z.infer<typeof madeExport>;

/** Live writing of metrics for TensorBoard. */
const tensorBoardState = z.object({
  on: z.boolean(),
  /** Folder on the server's machine, with one folder per run. */
  folder: z.string(),
  /** Why metrics can't be written; null if they can. */
  problem: apiError.nullable(),
});
export type TensorBoardState = z.infer<typeof tensorBoardState>;

/** Procedures of exports; `changes` as in contract.ts. */
export const exportProcedures = {
  /**
   * Exports a run or sweep as a task (`export`) and answers when the files exist; `packed`: as one file, a zip if there are several. Throws `run_unknown`,
   * `study_unknown`, `export_unsuitable`, `config_invalid`, `config_version_unsupported`, `checkpoint_missing`, `rollout_corrupt`, `panel_changed`, `disk_full` or `task_canceled`.
   */
  'exports.make': {
    input: z.object({ of: exportSource, format: exportFormat, packed: z.boolean().optional() }),
    output: madeExport,
  },
  /** Returns an export as text, for display and copying. Throws as `exports.make` does. */
  'exports.text': {
    input: z.object({ of: exportSource, format: z.enum(['markdown', 'latex', 'methods']) }),
    output: z.object({ text: z.string() }),
  },
  /** Deletes an export. Does nothing if it is gone already. */
  'exports.forget': { input: z.object({ exportId }), output: z.object({}) },
  'tensorBoard.get': { input: z.object({}), output: tensorBoardState },
  /** Switches writing on or off for the whole data folder. Throws `disk_full` or `tensorboard_unwritable`. */
  'tensorBoard.set': { changes: true, input: z.object({ on: z.boolean() }), output: tensorBoardState },
} as const;

export const exportNotices = {
  /** Writing was switched on or off, has failed or works again. */
  tensorBoard: tensorBoardState,
} as const;
