import { z } from 'zod';
import { madeExport } from './exports.ts';

const gpuSample = z.object({
  /** Share of the time in which it computed, 0 to 1; null where the driver doesn't say, as below. */
  busy: z.number().nullable(),
  memoryBytes: z.number().nullable(),
  celsius: z.number().nullable(),
  watts: z.number().nullable(),
});

/** What the machine was doing at a time. */
export const machineSample = z.object({
  time: z.number().describe('ms since the epoch'),
  /** Share of all cores that was busy since the sample before, 0 to 1. */
  cpu: z.number(),
  /** In use by any program. */
  memoryBytes: z.number(),
  diskFreeBytes: z.number(),
  /** As in `machine.gpus`. */
  gpus: z.array(gpuSample),
});
export type MachineSample = z.infer<typeof machineSample>;

export const machine = z.object({
  processor: z.string(),
  cores: z.number().int(),
  memoryBytes: z.number(),
  /** Of the disk that holds the data folder. */
  diskBytes: z.number(),
  gpus: z.array(z.object({ name: z.string(), memoryBytes: z.number().nullable() })),
  system: z.string().describe('operating system'),
  node: z.string().describe("version of the program that runs the app's core"),
});
export type Machine = z.infer<typeof machine>;

/** Something that the app needs, and whether it is there. */
export const finding = z.object({
  name: z.string(),
  fine: z.boolean(),
  /** What was found. */
  detail: z.string(),
  /** What to do about it; null where nothing is amiss. */
  advice: z.string().nullable(),
});
export type Finding = z.infer<typeof finding>;

export const machineProcedures = {
  /** What the machine has and did in the last hour; samples come as `machine` notices from then on, every `interval` ms. */
  'machine.gauges': {
    input: z.object({}),
    output: z.object({ machine, interval: z.number(), samples: z.array(machineSample) }),
  },
  /** What training needs, as `starpo doctor` prints it. */
  'machine.findings': { input: z.object({}), output: z.array(finding) },
  /** A zip for a report of a problem: versions, findings, states of runs, ends of logs; no token, no weights, no episodes. As `exports.make`. */
  'machine.diagnostics': { input: z.object({}), output: madeExport },
} as const;

export const machineNotices = { machine: machineSample } as const;
