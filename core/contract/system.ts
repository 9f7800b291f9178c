import { z } from 'zod';
import { apiError } from './runs.ts';

export const device = z.object({
  id: z.string(),
  name: z.string(),
  available: z.boolean(),
  reason: z.string().nullable(),
  hint: z.string().nullish().describe('what to do where it is not available'),
  /** All that it has. */
  memory_bytes: z.number().nullish(),
});

/** State of the NVIDIA GPUs; `problem` is the reason if none is usable (docs/formats/devices.md). */
export const cudaState = z.object({
  runtimeVersion: z.string().nullable(),
  driverVersion: z.string().nullable(),
  problem: z.object({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
});

export type Device = z.infer<typeof device>;

export const systemInfo = z.object({
  version: z.string(),
  dataFolder: z.string(),
  trainer: z.object({
    path: z.string(),
    build: z.string().nullable(),
    problem: z.string().nullable(),
    building: z
      .object({ done: z.number().int(), total: z.number().int() })
      .nullable()
      .describe('how many files are compiled where the set-up is still building it'),
  }),
  devices: z.array(device),
  cuda: cudaState.nullable().describe('null where the trainer can not be asked'),
  cores: z.number().int(),
  readOnly: apiError.nullable().describe('why nothing in the data folder can be changed; null where it can'),
});
export type SystemInfo = z.infer<typeof systemInfo>;

/** What a rebuild of the history found in the data folder. */
export const rebuildReport = z.object({
  runs: z.number().int(),
  events: z.number().int(),
  rollouts: z.number().int().describe('files of episodes'),
  skipped: z.array(z.string()).describe('folders under runs/ that hold no run'),
  forgotten: z.array(z.string()).describe('runs that the history had and whose folder is gone'),
  damaged: z.array(z.string()).describe('runs with lines in their journal that are no events'),
  unreadable: z.array(z.string()).describe("runs whose files couldn't be read; they stay as they were"),
  damagedAnnotations: z
    .array(z.string())
    .describe('runs with lines in annotations.jsonl that are no annotations'),
});
export type RebuildReport = z.infer<typeof rebuildReport>;
