import type { Frame } from '../contract/contract.ts';
import type { SectionWords } from '../run-config/form-words.ts';
import type { EnvironmentConfig } from '../run-config/schema.ts';
import type { Episode } from '../run-directory/episode.ts';
import type { Prompt } from './prompt.ts';

/** Seconds that an episode of the preset takes the starter policy on one core of a server's processor (Xeon, AVX-512), from runs of benchmarks/. */
export interface Pace {
  /** To play it. */
  play: number;
  /** To train on it once, without a critic. */
  learn: number;
}

/** What core knows of a type of environment; the trainer plays it. registry.ts lists all of them. */
export interface Environment {
  type: string;
  /** Its name, and what the form says of its configuration; keys that aren't named here stand there by their own names. */
  words: Omit<SectionWords, 'id'>;
  /** Names that an answer may use; null: it is free text. */
  actions: (config: Record<string, unknown>) => readonly string[] | null;
  /** As presets have it, with the prompts of the starter policy: a bare state, on which it was trained. */
  preset: EnvironmentConfig;
  /** Keys of its configuration that say nothing as the others stand. */
  silent?: (config: Record<string, unknown>) => readonly string[];
  /** Instructions for a published model, in place of the starter's. */
  chatPrompt: Prompt;
  /** Distance of the worst score that an episode can have from the best, without penalties for form, which are small beside it. Absent where nobody knows. */
  rewardRange?: (config: Record<string, unknown>, maxActions: number) => number;
  /** Absent where nobody measured it. */
  pace?: Pace;
  /** How large a level is, in a unit of its own. */
  levelSize?: (config: Record<string, unknown>) => number;
  /** The pictures of an episode: the initial state, then what became of each action. */
  frames: (episode: Episode) => Frame[];
}
