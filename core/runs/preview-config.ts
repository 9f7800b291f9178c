import { resolve } from 'node:path';
import type { PromptPreview } from '../contract/contract.ts';

import { deviceMemoryParts, totalBytes } from '../models/device-memory.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings } from '../run-config/settings.ts';
import { validateConfig } from '../run-config/validate.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { type CreateRunParts, type NewRun, originOf, ownModel } from './create-run.ts';

export interface PreviewParts extends Pick<CreateRunParts, 'home' | 'resources'> {
  trainer: Pick<Trainer, 'preview' | 'inspect' | 'devices'>;
}

/** Shown of each environment. */
const samples = 3;

/**
 * The first conversations of a run, exactly as its policy would read them, and the memory that it would take; makes nothing. Throws `config_invalid`, `model_missing`, or
 * what the trainer finds wrong with the model folder.
 */
export async function previewConfig(parts: PreviewParts, newRun: NewRun): Promise<PromptPreview> {
  const config = withModel(parts, newRun);
  const { prompts, memory } = await parts.trainer.preview(config, samples);
  return {
    environments: prompts,
    replyTokens: config.rollout.max_response_tokens,
    context: config.rollout.context,
    memory: memory.plan
      ? { ...memory.plan, bytes: memory.plan.total_bytes, available: memory.plan.free_bytes }
      : config.device === 'cpu' || memory.problem
        ? null
        : await gpuMemory(parts, config),
    memoryProblem: memory.problem,
  };
}

/** Checked as far as it can be without asking anybody, its model's folder absolute. */
function withModel({ home, resources }: PreviewParts, { set = {}, ...source }: NewRun): RunConfig {
  const { config: given, preset } = originOf(home, source);
  const config = validateConfig(applySettings(given, set));
  const own = preset !== null && config.start.model === given.start.model;
  config.start.model = own ? ownModel(preset, home, resources) : resolve(config.start.model);
  return config;
}

/** By the formulas of the trainer's own plan, which it makes only when it takes the memory. */
async function gpuMemory({ trainer }: PreviewParts, config: RunConfig): Promise<PromptPreview['memory']> {
  const [{ shape }, { devices }] = await Promise.all([
    trainer.inspect(config.start.model),
    trainer.devices(),
  ]);
  if (!shape) return null;
  const parts = deviceMemoryParts(config, shape);
  const gpu = devices.find(
    ({ id, available }) =>
      available && (config.device === id || (id.startsWith('cuda') && !config.device.includes(':'))),
  );
  return {
    device: gpu?.id ?? config.device,
    bytes: totalBytes(parts),
    available: gpu?.memory_bytes ?? null,
    parts,
  };
}
