import type { PresetCard } from '../contract/contract.ts';
import { frozenLake } from '../environments/frozen-lake.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { type Algorithm, defaultSuffix } from './algorithms.ts';

/** The type of presets and their common configuration. */

/**
 * A named configuration. `start.model` is relative to the resources folder, or the name of a published model; `presetModelFolder`
 * (runs/create-run.ts) resolves it when a run is created.
 */
export interface Preset extends Omit<PresetCard, 'environments' | 'device' | 'iterations' | 'first' | 'time'> {
  /** Hidden in the UI: used by commands that build the app's resources. */
  hidden: boolean;
  config: RunConfig;
}

/**
 * Returns the parts of a preset that follow from its task and algorithm. `name`: the short name of the task, which refers to the preset with the algorithm
 * `recommended`.
 */
export const describe = (
  { title, summary, recommended = defaultSuffix }: { title: string; summary: string; recommended?: string },
  algorithm: Algorithm,
  name: string,
) => ({
  ...{ title, summary, family: name, alias: algorithm.suffix === recommended ? name : null, hidden: false },
  ...{ algorithm: algorithm.title, baseline: algorithm.baseline, starpo: algorithm.starpo, method: algorithm.method },
});

const ownPrefix = 'own-';

/** Returns the short name of the preset of an environment that the user has added. */
export const ownPresetName = ({ id }: { id: string }): string => ownPrefix + id;

/** Returns whether an id or short name belongs to the preset of an added environment, possibly from another machine. */
export const isOwnPreset = (preset: string): boolean => String(preset).startsWith(ownPrefix);

/** Written as version 1. The upgrade table adds later options. */
const written = {
  version: 1,
  preset: 'custom',
  task: 'reinforce',
  seed: 1,
  device: 'cpu',
  threads: 0,
  precision: 'fp32',
  exactness: 'exact',
  iterations: 120,
  start: { model: 'starter', weights: 'load', sha256: '', run: '', checkpoint: 0, keep_optimizer: false },
  parent: { run: '', iteration: 0 },
  environments: [frozenLake.preset],
  rollout: {
    groups: 16,
    group_size: 16,
    slots: 256,
    temperature: 1,
    top_p: 1,
    top_k: 0,
    min_p: 0,
    max_response_tokens: 96,
    context: 768,
    think: true,
  },
  levels: { train_seed: 10000, validation_seed: 123, pool: 0 },
  reward: { format_penalty: -0.1 },
  filter: { strategy: 'fraction', keep: 0.5 },
  advantage: { estimator: 'grpo', gamma: 1, lambda: 1, whiten: false },
  policy_loss: {
    clip_low: 0.2,
    clip_high: 0.28,
    dual_clip: 0,
    entropy_coefficient: 0.003,
    average: 'trajectory',
    mini_batch: 64,
    epochs: 1,
  },
  optimizer: {
    learning_rate: 1e-4,
    warmup: 0,
    schedule: 'constant',
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weight_decay: 0.01,
    gradient_clip: 1,
    micro_batch_tokens: 4096,
    recompute: 'none',
  },
  critic: { model: 'none', learning_rate: 5e-4, value_clip: 0.5, gradient_clip: 1, warmup: 0 },
  kl: { coefficient: 0, estimator: 'k1', placement: 'reward', reference: '' },
  evaluation: { every: 20, levels: 256, temperature: 0.5 },
  checkpoint: { every: 20, keep: 2 },
  rollout_files: { keep_last: 0, keep_every: 10 },
  storage: { budget_gigabytes: 0 },
  warm_start: {
    steps_per_iteration: 50,
    batch: 16,
    plain: 0.4,
    positions: 0.2,
    careful: 0.4,
    mistakes: 0.6,
  },
  diagnostics: { every: 5, samples: 24, probe: false },
  automatic_action: 'notify',
};

/** Base of all presets: the starter policy on FrozenLake with StarPO-S and GRPO advantages. */
export const baseConfig = upgradeConfig(written).config as RunConfig;
