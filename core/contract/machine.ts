import { z } from 'zod';
import { madeExport } from './exports.ts';
import { apiError, runId } from './runs.ts';

const gpuSample = z.object({
  /** Utilization, 0 to 1. Like the others, null if the driver does not report it. */
  busy: z.number().nullable(),
  memoryBytes: z.number().nullable(),
  celsius: z.number().nullable(),
  watts: z.number().nullable(),
});

/** A sample of the machine's load. */
const machineSample = z.object({
  /** Utilization of all cores since the previous sample, 0 to 1. */
  cpu: z.number(),
  /** Memory used by all programs. */
  memoryBytes: z.number(),
  diskFreeBytes: z.number(),
  /** In the order of `machine.gpus`. */
  gpus: z.array(gpuSample),
});
export type MachineSample = z.infer<typeof machineSample>;

export const machine = z.object({
  processor: z.string(),
  cores: z.int(),
  memoryBytes: z.number(),
  /** Size of the data folder's disk. */
  diskBytes: z.number(),
  gpus: z.array(z.object({ name: z.string(), uuid: z.string().nullable(), memoryBytes: z.number().nullable() })),
  system: z.string().describe('operating system'),
  node: z.string().describe('Node.js version of the server'),
});
export type Machine = z.infer<typeof machine>;

/** A device on which queued runs train. */
export const pooledDevice = z.object({
  /** `cpu`, `cuda:0`, ... */
  id: z.string(),
  uuid: z.string().nullish(),
  name: z.string(),
  memoryBytes: z.number().nullable(),
  freeBytes: z.number().nullable(),
  /** Why no run is started on it; null if it is usable. */
  problem: apiError.nullable(),
  /** The run during which it failed, and when (ms since the epoch); null unless it was set aside. */
  aside: z.object({ run: runId, time: z.number() }).nullable(),
});
export type PooledDevice = z.infer<typeof pooledDevice>;

/** Result of checking one requirement of the app. */
export const finding = z.object({
  name: z.string(),
  fine: z.boolean(),
  /** True for optional hardware that is missing, such as a GPU. */
  absent: z.boolean().optional(),
  /** Result in words. */
  detail: z.string(),
  /** How to fix it; null if fine. */
  advice: z.string().nullable(),
});
export type Finding = z.infer<typeof finding>;

export const machineProcedures = {
  /** Returns the hardware and the samples of the last hour. More samples follow as `machine` notices, every `interval` ms. */
  'machine.gauges': {
    input: z.object({}),
    output: z.object({ machine, interval: z.number(), samples: z.array(machineSample) }),
  },
  /** Lists the devices of the queue. `share`: whether runs may share a GPU if their memory fits. */
  'devices.list': { input: z.object({}), output: z.object({ devices: z.array(pooledDevice), share: z.boolean() }) },
  /** Returns a device that was set aside to the queue, by its id or UUID. Throws `device_not_set_aside`. */
  'devices.restore': { changes: true, input: z.object({ device: z.string().max(64) }), output: z.object({}) },
  'devices.share': { changes: true, input: z.object({ share: z.boolean() }), output: z.object({}) },
  /** Checks the requirements, like `starpo doctor`. */
  'machine.findings': { input: z.object({}), output: z.array(finding) },
  /** Exports a zip for bug reports: versions, findings, run states and ends of logs, without tokens, weights and episodes. See `exports.make`. */
  'machine.diagnostics': { input: z.object({}), output: madeExport },
} as const;

export const machineNotices = {
  machine: machineSample,
  /** A device was set aside or returned to the queue, or `share` changed. */
  devices: z.object({}),
} as const;
