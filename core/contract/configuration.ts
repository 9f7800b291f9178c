import { z } from 'zod';
import { apiError, modelCard, runId, runName, runSource } from './runs.ts';

/** Data of the configuration form, which the renderer draws. */

/** Default preset of the form: the first on the Start page. */
export const usualPreset = 'starter-frozen-lake-grpo-s';

const settingValue = z.union([z.string(), z.number(), z.boolean()]);
export type SettingValue = z.infer<typeof settingValue>;
/** Maps run.json paths such as `rollout.groups` and `environments.0.config.size` to values. */
export const settings = z
  .record(z.string().max(128), settingValue)
  .describe('run.json paths to values, as in rollout.groups');
export type Settings = z.infer<typeof settings>;

/** One setting as a form shows it. */
const formField = z.object({
  /** `environments[].config.size` applies to every environment. */
  path: z.string(),
  title: z.string(),
  /** Unit after the value, such as `tokens`; may be empty. */
  unit: z.string(),
  help: z.string(),
  type: z.enum(['integer', 'number', 'boolean', 'choice', 'string', 'text']),
  maximum: z.number().nullable(),
  choices: z.array(z.object({ value: z.string(), title: z.string() })),
});
export type FormField = z.infer<typeof formField>;

const formSection = z.object({
  id: z.string(),
  title: z.string(),
  note: z.string(),
  fields: z.array(formField),
});
export type FormSection = z.infer<typeof formSection>;

export const configForm = z.object({
  /** Paths of the most important fields, which the sections contain too. */
  first: z.array(z.string()),
  sections: z.array(formSection),
  /** Fields for every environment, then for its type: `environments[].config...`. */
  environment: formSection,
  types: z.record(z.string(), formSection),
  /** Environments that can be added, with prompts for the starter policy and for published models. */
  addable: z.array(
    z.object({
      title: z.string(),
      environment: z.record(z.string(), z.unknown()),
      chatPrompt: z.record(z.string(), z.string()),
    }),
  ),
});
export type ConfigForm = z.infer<typeof configForm>;

/** Initial configuration of the form. */
const loadedConfig = z.object({
  config: z.record(z.string(), z.unknown()),
  /** Its origin, for display. */
  title: z.string(),
  /** Changes made by the upgrade from an older version, as sentences. */
  notes: z.array(z.string()),
  /** Whether the checkpoint that it starts from has its optimizer state; null without a checkpoint. */
  optimizerKept: z.boolean().nullable(),
});
export type LoadedConfig = z.infer<typeof loadedConfig>;

/** A sentence about a setting of another trainer: copied, changed for a reason, without a counterpart, or filled in because it was not set. */
const importNote = z.object({
  kind: z.enum(['mapped', 'changed', 'no_counterpart', 'default']),
  text: z.string(),
});
export type ImportNote = z.infer<typeof importNote>;

/** A configuration made from another trainer's files. */
const importedConfig = z.object({ config: z.record(z.string(), z.unknown()), notes: z.array(importNote) });
export type ImportedConfig = z.infer<typeof importedConfig>;

/** Duration of a run in seconds: an estimate, and a range that it is likely in. */
const timeEstimate = z.object({
  low: z.number(),
  seconds: z.number(),
  high: z.number(),
  /** `measured` from earlier runs on this machine, or `typical` figures shipped with the app. */
  basis: z.enum(['measured', 'typical']),
  /** Number of measured runs; 0 if typical. */
  runs: z.int(),
});
export type TimeEstimate = z.infer<typeof timeEstimate>;

export const presetCard = z.object({
  id: z.string(),
  /** Short name; only the default preset of a family has one. */
  alias: z.string().nullable(),
  /** Presets of the same family differ only in their algorithm. */
  family: z.string(),
  title: z.string(),
  environments: z.array(z.object({ type: z.string(), config: z.record(z.string(), z.unknown()) })).min(1),
  algorithm: z.string(),
  /** Baseline without the filter and clipping of StarPO-S. */
  baseline: z.boolean(),
  /** Whether the algorithm is one of RAGEN's four variants. */
  starpo: z.boolean(),
  /** One sentence that describes the task. */
  summary: z.string(),
  /** One sentence that describes the algorithm. */
  method: z.string(),
  /** Expected result, as one phrase. */
  expects: z.string(),
  /** Null for the starter policy shipped with the app. */
  model: modelCard.nullable(),
  /** Approximate GPU memory in bytes; null for CPU presets. */
  deviceBytes: z.number().nullable(),
  /** Requested device: `auto`, `cpu`, `cuda` or one GPU. */
  device: z.string(),
  iterations: z.int(),
  /** The most important settings, by run.json path. */
  first: settings,
  /** Training time on this machine; null if unknown. */
  time: timeEstimate.nullable(),
});
export type PresetCard = z.infer<typeof presetCard>;

const configProblem = apiError.extend({
  /** The invalid setting; null if the problem concerns no single setting. */
  path: z.string().nullable(),
  /** True if the configuration is valid, but its model or device isn't available on this machine. */
  machine: z.boolean(),
});
export type ConfigProblem = z.infer<typeof configProblem>;

/** Result of validating a configuration. */
export const configCheck = z.object({
  /** Errors per setting; empty if a run with this configuration can start on this machine. */
  problems: z.array(configProblem),
  /** Sentences about valid but unusual settings; empty if the configuration is invalid. */
  warnings: z.array(z.string()),
  /** Settings without effect (docs/formats/run-config.md). */
  idle: z.array(z.object({ path: z.string(), reason: z.string() })),
  /** Null if unknown. */
  time: timeEstimate.nullable(),
});
export type ConfigCheck = z.infer<typeof configCheck>;

/** The first turn of a level, as the model sees it. */
const promptSample = z.object({
  seed: z.int(),
  /** The last part is the start of the response. */
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  tokens: z.int(),
});
export const promptPreview = z.object({
  environments: z.array(
    z.object({
      label: z.string(),
      type: z.string(),
      samples: z.array(promptSample),
      /** Why there are no samples. */
      problem: apiError.nullable(),
    }),
  ),
  /** Maximum tokens per response and per episode. */
  replyTokens: z.int(),
  context: z.int(),
  /** Device memory that the run needs; null if unknown. */
  memory: z
    .object({
      device: z.string(),
      bytes: z.number(),
      /** Free memory of the machine (CPU) or total memory of the GPU, in bytes; null if unknown. */
      available: z.number().nullable(),
    })
    .nullable(),
  /** Why the run does not fit. */
  memoryProblem: apiError.nullable(),
  /** Why the preview is empty, for example `model_missing`. */
  problem: apiError.nullable(),
});
export type PromptPreview = z.infer<typeof promptPreview>;

const source = z.object({ set: settings.optional() }).and(runSource);

/** Procedures of the contract about configurations. */
export const configurationProcedures = {
  /** Returns the form. */
  'configs.form': { input: z.object({}), output: configForm },
  /** Returns an initial configuration. Throws as `runs.create` does. */
  'configs.load': { input: runSource, output: loadedConfig },
  /**
   * Converts configuration files of RAGEN, verl-agent or TRL, with overrides such as `trainer.total_training_steps=100`. Throws `config_unreadable`,
   * `config_invalid`, `config_unsupported` or `preset_unknown`.
   */
  'configs.import': {
    input: z.object({
      files: z.array(z.object({ name: z.string().max(300), text: z.string().max(4_000_000) })).max(16),
      overrides: z.array(z.string().max(10_000)).max(200),
    }),
    output: importedConfig,
  },
  /** Validates a configuration and lists settings without effect. `titles` names settings by form title instead of key. Throws as `runs.create` does for a missing source or trainer. */
  'configs.check': {
    input: z.object({ set: settings.optional(), titles: z.boolean().optional() }).and(runSource),
    output: configCheck,
  },
  /** Returns the first prompts of three training levels per environment, and the memory. Throws `config_invalid`, or if the trainer is missing or unusable. */
  'configs.preview': { input: source, output: promptPreview },
} as const;

/** The next step for a new run. */
export const launch = {
  /** Starts its trainer. */
  start: z.boolean(),
  /** Adds it to the queue instead. */
  queue: z.boolean().optional(),
  /** Creates the run only if it could be started, because the client starts it next. */
  startable: z.boolean().optional(),
};

/** Procedures that extend a completed run. */
export const trainMoreProcedures = {
  /**
   * Extends a completed run: a fork continues from its last checkpoint. With the checkpoint's optimizer state, a constant learning
   * rate and no replay, it is bit-identical to a longer run on a CPU. Starts or queues the fork. Throws `run_not_completed`, `checkpoint_missing`, or as `runs.create` and `runs.start` do.
   */
  'runs.trainMore': {
    changes: true,
    input: z.object({
      runId,
      id: runId.optional().describe('id of the new run'),
      iterations: z.int().min(1).max(1_000_000).describe('additional iterations'),
      name: runName.optional(),
      ...launch,
    }),
    output: z.object({ runId }),
  },
} as const;
