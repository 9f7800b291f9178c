import { z } from 'zod';
import { apiError, runId } from './runs.ts';

/** Hugging Face repository: `Qwen/Qwen2.5-0.5B-Instruct`. */
export const repository = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/, "must be OWNER/NAME, as on the model's page");
const folder = z.string().min(1).max(4096);

/** A model folder on this machine. */
const modelEntry = z.object({
  name: z.string(),
  folder: z.string(),
  /** `starter`: shipped with the app; `downloaded`: in the data folder; `added` by the user; `cache`: in Hugging Face's cache. */
  source: z.enum(['starter', 'downloaded', 'added', 'cache']),
  repository: z.string().nullable(),
  license: z.string().nullable(),
  architecture: z.string().nullable(),
  parameters: z.number().nullable(),
  /** Data types of the weights, such as `bf16`, joined by `, `. */
  precision: z.string().nullable(),
  bytes: z.number(),
  /** Approximate GPU memory for training it with a critic, by its preset's memory plan. */
  trainingBytes: z.number().nullable(),
  /** Why no run can start from it; null if one can. */
  problem: apiError.nullable(),
});
export type ModelEntry = z.infer<typeof modelEntry>;

/** An incomplete download. */
const partialDownload = z.object({
  repository,
  done: z.number(),
  total: z.number(),
  /** Its task; null if it is not running. */
  taskId: z.string().nullable(),
});
export type PartialDownload = z.infer<typeof partialDownload>;

/** Checkpoints of a run that have weights. */
const runCheckpoints = z.object({
  runId,
  name: z.string(),
  /** Newest first. */
  iterations: z.array(z.int()),
  /** Folder of the newest checkpoint, usable as a model folder. */
  folder: z.string(),
  bytes: z.number(),
});
export type RunCheckpoints = z.infer<typeof runCheckpoints>;

/** A model on the hub. */
const hubModel = z.object({
  repository,
  license: z.string().nullable(),
  licenseLink: z.string().nullable(),
  parameters: z.number().nullable(),
  files: z.int(),
  bytes: z.number(),
  /** Target folder of the download. */
  folder: z.string(),
  /** Free space on the target disk, in bytes. */
  free: z.number(),
  /** Why it can't be downloaded, or why no run can start from it; null if neither. */
  problem: apiError.nullable(),
});
export type HubModel = z.infer<typeof hubModel>;

const hubSettings = z.object({
  host: z.string(),
  /** Whether a token is set; the token itself is never sent. */
  hasToken: z.boolean(),
});
export type HubSettings = z.infer<typeof hubSettings>;

const empty = z.object({});
const changes = true;

/** Procedures of the contract about models. */
export const modelProcedures = {
  /** Lists all models, including invalid ones that the user added. `checkpoints: false` omits checkpoints of runs and doesn't scan their folders. */
  'models.list': {
    input: z.object({ checkpoints: z.boolean().optional() }),
    output: z.object({
      models: z.array(modelEntry),
      downloads: z.array(partialDownload),
      checkpoints: z.array(runCheckpoints),
    }),
  },
  /** Adds a model folder. Throws `model_missing` if it has no config.json. */
  'models.add': { changes, input: z.object({ folder }), output: empty },
  /** Removes an added folder from the list. Its files stay. */
  'models.forget': { changes, input: z.object({ folder }), output: empty },
  /** Deletes a downloaded model and its files. Throws `model_unknown`. */
  'models.delete': { changes, input: z.object({ name: z.string().max(96) }), output: empty },
  /** Looks a model up on the hub. Throws `hub_not_found`, `hub_unauthorized`, `hub_token_invalid`, `hub_refused`, `hub_busy`, `hub_unreachable` or `hub_answer_invalid`. */
  'models.look': { input: z.object({ repository }), output: hubModel },
  /**
   * Downloads a model as a task and resumes an incomplete download; returns when it has started. Every file is checked against the hub's SHA-256. Throws as
   * `models.look` does, or `model_unsupported`, `model_exists`, `download_active` or `disk_space_low`.
   */
  'models.download': { changes, input: z.object({ repository }), output: z.object({ taskId: z.string() }) },
  /** Deletes an incomplete download. Throws `download_active` while it is running. */
  'models.discard': { changes, input: z.object({ repository }), output: empty },
  'hub.settings': { input: empty, output: hubSettings },
  /** Changes the given settings. An empty token removes it; an empty host restores the default. Throws `hub_host_invalid`. */
  'hub.set': {
    changes,
    input: z.object({ host: z.string().max(256).optional(), token: z.string().max(512).optional() }),
    output: hubSettings,
  },
} as const;

export const modelNotices = {
  /** The list of models or downloads changed; fetch it again. */
  models: empty,
} as const;
