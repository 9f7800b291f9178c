import { z } from 'zod';
import { programsFolder } from '../base/programs.ts';
import {
  type ApiError,
  type ConfigCheck,
  configCheck,
  cudaState,
  device,
  memoryPlan,
  promptPreview,
  type SystemInfo,
} from '../contract/contract.ts';
import { isNumberedGpu } from '../contract/run-facts.ts';
import { sentence } from '../contract/sentence.ts';
import type { ModelShape } from '../presets/published.ts';
import { askTrainer } from './ask.ts';
import { readBuilding, refuseWhileBuilding, type TrainerBuilding } from './building.ts';
import type { ConfirmedCommands } from './confirmed-commands.ts';
import { EnvironmentProcess } from './environment.ts';
import { EpisodeProcess } from './episode.ts';
import { type EvaluationProcess, type EvaluationProgress, launchEvaluation } from './evaluate.ts';
import { findTrainer } from './executable.ts';
import { type LaunchedTrainer, launchTrainer } from './launch.ts';

const runState = z.looseObject({ locked: z.boolean(), pid: z.int().nullish() });
const validation = z.looseObject({
  warnings: z.array(z.string()),
  idle: configCheck.shape.idle.default([]),
  files_sha256: z.array(z.string()).default([]),
});
const count = z.int();
const modelShape = z.looseObject({
  vocab_size: count,
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count,
  head_dim: count,
  tie_word_embeddings: z.boolean(),
});
const modelFacts = z.looseObject({ parameters: count });
/** docs/formats/preview.md. */
const preview = z.looseObject({
  prompts: promptPreview.shape.environments,
  memory: z.looseObject({ plan: memoryPlan.nullable(), problem: promptPreview.shape.memoryProblem }),
});
export type Preview = z.infer<typeof preview>;
const deviceList = z.looseObject({
  devices: z.array(device),
  build: z.string().nullish(),
  cuda: z.looseObject({
    runtime_version: z.string().nullable(),
    problem: cudaState.shape.problem,
  }),
});

export type Devices = Pick<SystemInfo, 'devices' | 'cuda'> & { build: string | null };

/** Parses the output of `devices --json` (docs/formats/devices.md). */
export function parseDevices(answer: unknown): Devices {
  const { devices, build, cuda } = deviceList.parse(answer);
  const { runtime_version: runtimeVersion, problem } = cuda;
  return {
    devices: devices.map((each) => ({ ...each, ...(each.hint && { hint: sentence(each.hint) }) })),
    build: build || null,
    cuda: { runtimeVersion, problem: problem && inSentences(problem) },
  };
}

const inSentences = ({ code, message, hint }: ApiError): ApiError => ({
  code,
  message: sentence(message),
  hint: sentence(hint),
});

/** Client of the trainer executable. All methods may throw `trainer_missing` or `trainer_unusable`. */
export class Trainer {
  private readonly candidates: readonly string[];
  /** Commands that the trainer may start as environments; null: none. */
  readonly confirmed: ConfirmedCommands | null;
  /** The devices last read; null before. */
  lastDevices: Devices | null = null;

  constructor(candidates: readonly string[], confirmed: ConfirmedCommands | null = null) {
    this.candidates = candidates;
    this.confirmed = confirmed;
  }

  /** The environment variables of a trainer that may start confirmed commands. */
  get variables(): NodeJS.ProcessEnv {
    const confirmed = this.confirmed?.digests().join(',') ?? '';
    return { ...process.env, STARPO_CONFIRMED_COMMANDS: confirmed, STARPO_PROGRAMS: programsFolder() };
  }

  /** Path of the executable, or the first candidate if none exists. */
  get path(): string {
    try {
      return findTrainer(this.candidates);
    } catch {
      return this.candidates[0]!;
    }
  }

  /** Build progress; null if setup is not building it or failed. */
  get building(): TrainerBuilding | null {
    try {
      return readBuilding(this.candidates[0]!);
    } catch {
      return null;
    }
  }

  /** Throws `trainer_missing` if the trainer cannot be used. Call it before creating files. */
  require(): void {
    this.find();
  }

  private find(): string {
    refuseWhileBuilding(this.candidates[0]!);
    return findTrainer(this.candidates);
  }

  /** Returns whether a running trainer holds a run's lock. The trainer tests it, because Node has no flock. */
  async status(folder: string): Promise<{ running: boolean; pid: number | null }> {
    const answer = runState.parse(await askTrainer(findTrainer(this.candidates), ['status', folder, '--json']));
    return { running: answer.locked, pid: answer.pid ?? null };
  }

  async devices(): Promise<Devices> {
    this.lastDevices = parseDevices(await askTrainer(this.find(), ['devices', '--json']));
    return this.lastDevices;
  }

  /** Validates a model folder and returns its shape. Throws the trainer's error (docs/formats/model-folder.md). */
  async inspect(folder: string): Promise<{ parameters: number; shape?: ModelShape | null }> {
    const answer = await askTrainer(this.find(), ['inspect', folder, '--json']);
    return { ...modelFacts.parse(answer), shape: modelShape.safeParse(answer).data ?? null };
  }

  /** Returns the first prompts of a configuration and the memory plan of a CPU (docs/formats/preview.md). Throws the trainer's error about it or its model folder. */
  async preview(config: unknown, levels: number): Promise<Preview> {
    const args = ['preview', '-', '--levels', String(levels)];
    const { prompts, memory } = preview.parse(
      await askTrainer(this.find(), args, JSON.stringify(config), this.variables),
    );
    return { prompts, memory: { ...memory, problem: memory.problem && inSentences(memory.problem) } };
  }

  /**
   * Validates a configuration. Returns warnings about unusual settings, and the settings without effect. With `start`, also checks that the run can
   * start on this machine: device and model folder, and returns the digest of each environment's files. Throws the trainer's error.
   */
  async validate(
    config: unknown,
    { start = false } = {},
  ): Promise<Pick<ConfigCheck, 'warnings' | 'idle'> & { filesSha256?: string[] }> {
    const args = ['validate', '-', '--json', ...(start ? ['--start'] : [])];
    const answer = await askTrainer(this.find(), args, JSON.stringify(config));
    const { files_sha256: filesSha256, ...checked } = validation.parse(answer);
    return { ...checked, filesSha256 };
  }

  /** `device` replaces the one of run.json, which may be `auto`. */
  async launch(task: 'reinforce' | 'warm_start', folder: string, device?: string): Promise<LaunchedTrainer> {
    const slice = device && (await this.sliceOf(device));
    const option = slice ? 'cuda:0' : device;
    const args = [task === 'warm_start' ? 'warm-start' : 'train', folder, ...(option ? ['--device', option] : [])];
    const env = { ...this.variables, ...(slice && { CUDA_VISIBLE_DEVICES: slice }) };
    return launchTrainer(this.find(), args, folder, env);
  }

  /**
   * Returns the UUID of a listed device on a machine with MIG slices; undefined on other machines. A process can use only one slice, which
   * CUDA_VISIBLE_DEVICES selects.
   */
  private async sliceOf(device: string): Promise<string | undefined> {
    if (!isNumberedGpu(device)) return undefined;
    const { devices } = this.lastDevices ?? (await this.devices());
    if (!devices.some(({ uuid }) => uuid?.startsWith('MIG-'))) return undefined;
    return devices.find(({ id }) => id === device)?.uuid ?? undefined;
  }

  /** Starts an environment; see {@link EnvironmentProcess}. */
  environment(type: string, config: object, noise: number | undefined): EnvironmentProcess {
    return new EnvironmentProcess(this.find(), type, config, noise, this.variables);
  }

  /** Starts a process that plays episodes of a run; see {@link EpisodeProcess}. */
  play(runFolder: string, checkpoint: number, label: string): EpisodeProcess {
    return new EpisodeProcess(this.find(), runFolder, checkpoint, label, this.variables);
  }

  evaluate(
    folder: string,
    options: Record<string, string | number>,
    onProgress: (progress: EvaluationProgress) => void,
  ): EvaluationProcess {
    return launchEvaluation(this.find(), folder, options, onProgress, this.variables);
  }
}
