import { resolve } from 'node:path';
import type { PromptPreview } from '../contract/contract.ts';
import { asFailure } from '../contract/failure.ts';
import { deviceBytes } from '../presets/device-memory.ts';
import { inTitles } from '../presets/form.ts';
import type { Preset } from '../presets/presets.ts';
import { type ModelShape, publishedModels } from '../presets/published.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings } from '../run-config/settings.ts';
import { validateConfig } from '../run-config/validate.ts';
import { ownCommands } from '../trainer/confirmed-commands.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { type CreateRunParts, type NewRun, originOf, presetModelFolder } from './create-run.ts';

interface PreviewParts extends Pick<CreateRunParts, 'home' | 'resources'> {
  trainer: Pick<Trainer, 'preview' | 'inspect' | 'devices'>;
}

/** Number of prompts per environment. */
const samples = 3;
/** Machine errors rather than configuration errors. */
const machineCodes = ['trainer_missing', 'trainer_unusable'];

/**
 * Returns the first conversations of a run, exactly as its policy would read them, and its memory, without creating anything. A missing or unsuitable
 * model is reported as the preview's problem. Throws `config_invalid`, or an error if the trainer is missing.
 */
export async function previewConfig(parts: PreviewParts, { set = {}, ...source }: NewRun): Promise<PromptPreview> {
  const { config: original, preset: originalPreset } = originOf(parts.home, source);
  const config = validateConfig(applySettings(original, set));
  const preset = config.start.model === original.start.model ? originalPreset : null;
  const limits = { replyTokens: config.rollout.max_response_tokens, context: config.rollout.context };
  try {
    config.start.model = preset ? presetModelFolder(preset, parts.home, parts.resources) : resolve(config.start.model);
    const { prompts, memory } = await parts.trainer.preview(config, samples);
    return {
      ...{ ...limits, environments: prompts.map(withCommand(config)), problem: null, memoryProblem: memory.problem },
      memory: memory.plan
        ? { device: memory.plan.device, bytes: memory.plan.total_bytes, available: memory.plan.free_bytes }
        : await gpuMemory(parts, config, preset),
    };
  } catch (error) {
    const { code, message, hint } = asFailure(error);
    if (machineCodes.includes(code)) throw error;
    const problem = { code, message: inTitles(message), hint: inTitles(hint) };
    const memory = await gpuMemory(parts, config, preset).catch(() => null);
    return { ...limits, environments: [], problem, memory, memoryProblem: null };
  }
}

/** Adds the command to confirm to the problem of an environment that has not run yet. */
const withCommand =
  ({ environments }: RunConfig) =>
  (prompt: PromptPreview['environments'][number]): PromptPreview['environments'][number] => {
    const { problem, label } = prompt;
    if (problem?.code !== 'command_not_confirmed') return prompt;
    const [unconfirmed] = ownCommands({
      environments: environments.filter((each) => each.label === label),
      reward: null,
    });
    return { ...prompt, problem: { ...problem, ...(unconfirmed && { unconfirmed }) } };
  };

/** Estimates the memory with the formulas of the trainer, which plans it only when it allocates it. Returns null for the CPU and for a model of unknown shape. */
async function gpuMemory(
  { trainer }: PreviewParts,
  config: RunConfig,
  preset: Preset | null,
): Promise<PromptPreview['memory']> {
  if (config.device === 'cpu') return null;
  const shape = await shapeOf(trainer, config, preset);
  if (!shape) return null;
  const { devices } = await trainer.devices();
  const gpus = devices.filter(({ id, available }) => available && id.startsWith('cuda'));
  const gpu = config.device.includes(':') ? gpus.find(({ id }) => id === config.device) : gpus[0];
  return {
    device: gpu?.id ?? config.device,
    bytes: deviceBytes(config, shape),
    available: gpu?.memory_bytes ?? null,
  };
}

/** Returns the shape of the model. A published model need not be downloaded. */
async function shapeOf(
  trainer: PreviewParts['trainer'],
  config: RunConfig,
  preset: Preset | null,
): Promise<ModelShape | null> {
  const published = publishedModels.find(({ name }) => name === preset?.model?.name);
  if (published) return published.shape;
  return (await trainer.inspect(config.start.model)).shape ?? null;
}
