import { z } from 'zod';
import { apiError, memoryPart, modelCard, runId, runSource } from './runs.ts';

/** What the form of a run's configuration is made of and says; the form itself is drawn by the renderer. */

/** What a form begins with where nothing is chosen: the preset that the Start page puts first. */
export const usualPreset = 'starter-frozen-lake-starpo-s';

export const settingValue = z.union([z.string(), z.number(), z.boolean()]);
export type SettingValue = z.infer<typeof settingValue>;
/** run.json paths, as in `rollout.groups` and `environments.0.config.size`, to values. */
export const settings = z
  .record(z.string().max(128), settingValue)
  .describe('run.json paths to values, as in rollout.groups');
export type Settings = z.infer<typeof settings>;

/** One setting as a form shows it. */
export const formField = z.object({
  /** `environments[].config.size` stands for each environment's. */
  path: z.string(),
  title: z.string(),
  /** Behind the value: `tokens`, `iterations`; empty where it has none. */
  unit: z.string(),
  help: z.string(),
  type: z.enum(['integer', 'number', 'boolean', 'choice', 'string', 'text']),
  minimum: z.number().nullable(),
  maximum: z.number().nullable(),
  choices: z.array(z.object({ value: z.string(), title: z.string() })),
});
export type FormField = z.infer<typeof formField>;

export const formSection = z.object({
  id: z.string(),
  title: z.string(),
  note: z.string(),
  fields: z.array(formField),
});
export type FormSection = z.infer<typeof formSection>;

export const configForm = z.object({
  /** Paths that matter first; their fields are in the sections too. */
  first: z.array(z.string()),
  sections: z.array(formSection),
  /** Of every environment, then of its type: `environments[].config...`. */
  environment: formSection,
  types: z.record(z.string(), formSection),
  /** What can be added to `environments`: with the prompts of the starter policy, and those for a published model. */
  addable: z.array(
    z.object({
      title: z.string(),
      environment: z.record(z.string(), z.unknown()),
      chatPrompt: z.record(z.string(), z.string()),
    }),
  ),
});
export type ConfigForm = z.infer<typeof configForm>;

/** A configuration to begin the form with. */
export const loadedConfig = z.object({
  config: z.record(z.string(), z.unknown()),
  /** What it is made from, in words. */
  title: z.string(),
  /** What an upgrade from an older version changed, in sentences. */
  notes: z.array(z.string()),
  /** Of the checkpoint that it goes on from: whether it still has its optimiser state; null where it goes on from none. */
  optimizerKept: z.boolean().nullable(),
});
export type LoadedConfig = z.infer<typeof loadedConfig>;

/** `measured`: by earlier runs of this machine; `typical`: by figures that come with the app. */
export const timeEstimate = z.object({
  seconds: z.number(),
  basis: z.enum(['measured', 'typical']),
  /** How many runs were measured; 0 where it is typical. */
  runs: z.number().int(),
});
export type TimeEstimate = z.infer<typeof timeEstimate>;

export const presetCard = z.object({
  id: z.string(),
  /** The short name; of the presets of a task, the one that has it is the default. */
  alias: z.string().nullable(),
  /** Presets of the same task differ in their algorithm alone. */
  task: z.string(),
  title: z.string(),
  environments: z.array(z.object({ type: z.string(), config: z.record(z.string(), z.unknown()) })).min(1),
  algorithm: z.string(),
  /** Without StarPO-S's filter and clip: what the others are compared with. */
  baseline: z.boolean(),
  /** A sentence on the task: what one will see. */
  summary: z.string(),
  /** A sentence on the algorithm. */
  method: z.string(),
  /** What the run should reach, in one phrase. */
  expects: z.string(),
  /** Null: the starter policy, which comes with the app. */
  model: modelCard.nullable(),
  /** About what it takes of a GPU's memory; null where it is made for the processor. */
  deviceBytes: z.number().nullable(),
  /** What its configuration asks for: `auto`, `cpu`, `cuda` or one GPU. */
  device: z.string(),
  iterations: z.number().int(),
  /** What matters first, by paths of run.json. */
  first: settings,
  /** How long it takes on this machine; null where nothing is known of it. */
  time: timeEstimate.nullable(),
});
export type PresetCard = z.infer<typeof presetCard>;

export const configProblem = apiError.extend({
  /** The setting that is wrong; null where it is none alone. */
  path: z.string().nullable(),
});
export type ConfigProblem = z.infer<typeof configProblem>;

/** What is to be said of a configuration before a run is made of it. */
export const configCheck = z.object({
  /** Why no run can be made of it, by setting; none where one can. */
  problems: z.array(configProblem),
  /** Sentences on what is allowed but rarely meant; none where there are problems, as below. */
  warnings: z.array(z.string()),
  /** Settings that can't act as things stand: docs/formats/run-config.md, Settings that can't act. */
  idle: z.array(z.object({ path: z.string(), reason: z.string() })),
  /** Null where nothing is known of it. */
  time: timeEstimate.nullable(),
});
export type ConfigCheck = z.infer<typeof configCheck>;

/** The first turn of a level, as the model reads it. */
export const promptSample = z.object({
  seed: z.number().int(),
  /** The last one is the beginning of the reply. */
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  tokens: z.number().int(),
});
export const promptPreview = z.object({
  environments: z.array(
    z.object({
      label: z.string(),
      type: z.string(),
      samples: z.array(promptSample),
      /** Why there are none. */
      problem: apiError.nullable(),
    }),
  ),
  /** Most tokens of a reply and of an episode. */
  replyTokens: z.number().int(),
  context: z.number().int(),
  /** What the run would take of its device; null where it isn't known. */
  memory: z
    .object({
      device: z.string(),
      bytes: z.number(),
      /** What a processor's machine has free, what a GPU has in all; null where there is none. */
      available: z.number().nullable(),
      parts: z.array(memoryPart),
    })
    .nullable(),
  /** Why it wouldn't fit. */
  memoryProblem: apiError.nullable(),
  /** Why there are no conversations at all, such as `model_missing`. */
  problem: apiError.nullable(),
});
export type PromptPreview = z.infer<typeof promptPreview>;

const source = z.object({ set: settings.optional() }).and(runSource);

/** Procedures of the contract about configurations. */
export const configurationProcedures = {
  /** The form of every configuration. */
  'configs.form': { input: z.object({}), output: configForm },
  /** A configuration to begin with. Throws as `runs.create` does where there is none. */
  'configs.load': { input: runSource, output: loadedConfig },
  /** What is wrong with a configuration, and what in it can't act; makes nothing. With `titles` settings are called as the form calls them, else by their keys. Throws as `runs.create` does where there is nothing to make a run from, or no trainer to ask. */
  'configs.check': {
    input: z.object({ set: settings.optional(), titles: z.boolean().optional() }).and(runSource),
    output: configCheck,
  },
  /** The first conversation of three training levels of each environment, and the memory. Throws `config_invalid`, or where there is no trainer to ask. */
  'configs.preview': { input: source, output: promptPreview },
} as const;

/** Procedures that give a complete run more iterations. */
export const trainMoreProcedures = {
  /**
   * A complete run gets more iterations: a new run goes on from its last checkpoint, with its optimiser state and to the same bits where that is still there. Starts
   * it, or adds it to the queue. Throws `run_not_completed`, `checkpoint_missing`, or what making or starting a run does.
   */
  'runs.trainMore': {
    changes: true,
    input: z.object({
      runId,
      iterations: z.number().int().min(1).max(1_000_000).describe('more'),
      start: z.boolean(),
      queue: z.boolean().optional(),
    }),
    output: z.object({ runId, optimizerKept: z.boolean() }),
  },
} as const;
