import { z } from 'zod';
import { apiError } from './runs.ts';

export const device = z.object({
  id: z.string(),
  name: z.string(),
  available: z.boolean(),
  reason: z.string().nullable(),
  hint: z.string().nullish().describe('how to make it available'),
  /** Total memory. */
  memory_bytes: z.number().nullish(),
  free_bytes: z.number().nullish(),
  /** Identifies a GPU or a MIG slice independent of its number, as in nvidia-smi. */
  uuid: z.string().nullish(),
});

/** State of the NVIDIA GPUs; `problem` is the reason if none is usable (docs/formats/devices.md). */
export const cudaState = z.object({
  runtimeVersion: z.string().nullable(),
  problem: z.object({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
});

export type Device = z.infer<typeof device>;

export const systemInfo = z.object({
  version: z.string(),
  host: z.string(),
  dataFolder: z.string(),
  trainer: z.object({
    path: z.string(),
    build: z.string().nullable(),
    problem: z.string().nullable(),
    building: z
      .object({ done: z.int(), total: z.int() })
      .nullable()
      .describe('compiled files and all files while setup builds the trainer; null otherwise'),
  }),
  devices: z.array(device),
  cuda: cudaState.nullable().describe('null if the trainer is unusable'),
  cores: z.int(),
  readOnly: apiError.nullable().describe('why the data folder is read-only; null if it is writable'),
});
export type SystemInfo = z.infer<typeof systemInfo>;

/** A folder under runs/ that is not in the run history. */
export const unreadableFolder = z.object({
  name: z.string(),
  reason: z.string().describe('completes "NAME can\'t be read: ..."'),
});
export type UnreadableFolder = z.infer<typeof unreadableFolder>;

/** Result of rebuilding the run history. */
export const rebuildReport = z.object({
  runs: z.int(),
  events: z.int(),
  rollouts: z.int().describe('number of rollout files'),
  skipped: z.array(unreadableFolder),
  forgotten: z.array(z.string()).describe('indexed runs whose folder was deleted'),
  damaged: z.array(z.string()).describe('runs with invalid lines in events.jsonl'),
  unreadable: z.array(z.string()).describe("runs whose files can't be read; they keep their earlier history"),
  damagedAnnotations: z.array(z.string()).describe('runs with invalid lines in annotations.jsonl'),
});
export type RebuildReport = z.infer<typeof rebuildReport>;
