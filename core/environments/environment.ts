import type { Frame } from '../contract/contract.ts';
import type { SectionWords } from '../run-config/form-words.ts';
import type { EnvironmentConfig } from '../run-config/schema.ts';
import type { EpisodeActions } from '../run-directory/episode.ts';
import type { Prompt } from './prompt.ts';

/** Seconds per episode of the preset with the starter policy on one core (Xeon, AVX-512), measured in benchmarks/. */
export interface Pace {
  /** Rollout. */
  play: number;
  /** One training pass without a critic. */
  learn: number;
}

/** Definition of an environment type; the trainer runs it. registry.ts lists all types. */
export interface Environment {
  type: string;
  /** Title, and form fields of its settings. Settings without a field are shown under their key. */
  words: Omit<SectionWords, 'id'>;
  /** Valid action names; null for free text. */
  actions: (config: Record<string, unknown>) => readonly string[] | null;
  /** Preset settings with the prompts that the starter policy was trained on: the bare state. */
  preset: EnvironmentConfig;
  /** Settings that have no effect with the other settings as they are. */
  unusedSettings?: (config: Record<string, unknown>) => readonly string[];
  /** Returns phrases that describe the settings in a paper. By default, the paper lists the title and value of each number and switch. */
  describe?: (config: Record<string, unknown>) => readonly string[];
  /** Prompts for published models. */
  chatPrompt: Prompt;
  /** Difference between the best and the worst possible episode reward, without format penalties. Absent if unknown. */
  rewardRange?: (config: Record<string, unknown>, maxActions: number) => number;
  /** Absent if not measured. */
  pace?: Pace;
  /** Size of a level, in a unit that depends on the environment. */
  levelSize?: (config: Record<string, unknown>) => number;
  /** Frames of an episode: the initial state, then the result of each action. */
  frames: (episode: EpisodeActions) => Frame[];
}
