import { z } from 'zod';
import { apiError, runId } from './runs.ts';

/** Owner and name, as at Hugging Face: `Qwen/Qwen2.5-0.5B-Instruct`. */
export const repository = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/, 'must be OWNER/NAME, as on the model’s page');
const folder = z.string().min(1).max(4096);

/** A model folder on this machine. */
export const modelEntry = z.object({
  name: z.string(),
  folder: z.string(),
  /** `starter`: comes with the app; `downloaded`: lies in the data folder; `added`: a person named it; `cache`: Hugging Face's. */
  source: z.enum(['starter', 'downloaded', 'added', 'cache']),
  repository: z.string().nullable(),
  licence: z.string().nullable(),
  architecture: z.string().nullable(),
  parameters: z.number().nullable(),
  /** Of the weights, such as `bf16`; several joined by `, `. */
  precision: z.string().nullable(),
  bytes: z.number(),
  /** About what training it with a critic takes of a GPU's memory, by the plan of its preset. */
  trainingBytes: z.number().nullable(),
  /** Why no run could begin from it. */
  problem: apiError.nullable(),
});
export type ModelEntry = z.infer<typeof modelEntry>;

/** A download that was begun and isn't complete. */
export const partialDownload = z.object({
  repository,
  done: z.number(),
  total: z.number(),
  /** Its task while it is under way. */
  taskId: z.string().nullable(),
});
export type PartialDownload = z.infer<typeof partialDownload>;

/** A run's checkpoints that hold weights. */
export const runCheckpoints = z.object({
  runId,
  name: z.string(),
  /** Newest first. */
  iterations: z.array(z.number().int()),
  /** Of the newest: what a run can begin from as from any model. */
  folder: z.string(),
  bytes: z.number(),
});
export type RunCheckpoints = z.infer<typeof runCheckpoints>;

/** A model at the hub, before it is downloaded. */
export const hubModel = z.object({
  repository,
  /** The commit that is downloaded. */
  revision: z.string(),
  licence: z.string().nullable(),
  licenceLink: z.string().nullable(),
  parameters: z.number().nullable(),
  files: z.number().int(),
  bytes: z.number(),
  /** Where it would be put. */
  folder: z.string(),
  /** Free space of that disk. */
  free: z.number(),
  /** Why it can't be downloaded or no run could begin from it. */
  problem: apiError.nullable(),
});
export type HubModel = z.infer<typeof hubModel>;

export const hubSettings = z.object({
  host: z.string(),
  /** Whether a token is set; the token itself is never sent. */
  hasToken: z.boolean(),
});
export type HubSettings = z.infer<typeof hubSettings>;

const empty = z.object({});
const changes = true;

/** Of the API: contract.ts takes them in. */
export const modelProcedures = {
  /** Every model that a run could begin from, or that somebody named; `checkpoints: false` leaves out those of runs, for which all of their folders are gone through. */
  'models.list': {
    input: z.object({ checkpoints: z.boolean().optional() }),
    output: z.object({
      models: z.array(modelEntry),
      downloads: z.array(partialDownload),
      checkpoints: z.array(runCheckpoints),
    }),
  },
  /** Remembers a folder. Throws `model_missing` where it has no config.json. */
  'models.add': { changes, input: z.object({ folder }), output: empty },
  /** Forgets a folder that was added; nothing is deleted. */
  'models.forget': { changes, input: z.object({ folder }), output: empty },
  /** Deletes a model that was downloaded, with its files. Throws `model_unknown`. */
  'models.delete': { changes, input: z.object({ name: z.string().max(96) }), output: empty },
  /** Asks the hub. Throws `hub_not_found`, `hub_unauthorized`, `hub_busy`, `hub_unreachable` or `hub_answer_invalid`. */
  'models.look': { input: z.object({ repository }), output: hubModel },
  /**
   * Downloads a model as a task, on from where an earlier attempt ended; answers once it is under way. Every file is checked against the hub's SHA-256. Throws as
   * `models.look` does, `model_exists`, `download_active` or `disk_space_low`.
   */
  'models.download': { changes, input: z.object({ repository }), output: z.object({ taskId: z.string() }) },
  /** Deletes what an attempt has left. Throws `download_active` while it is under way. */
  'models.discard': { changes, input: z.object({ repository }), output: empty },
  'hub.settings': { input: empty, output: hubSettings },
  /** Changes what is named; an empty token: none, an empty host: the usual one. Throws `hub_host_invalid`. */
  'hub.set': {
    changes,
    input: z.object({ host: z.string().max(256).optional(), token: z.string().max(512).optional() }),
    output: hubSettings,
  },
} as const;

export const modelNotices = {
  /** A model has come or gone, or a download has begun or ended: the list has to be asked for again. */
  models: empty,
} as const;
