import type { Frame } from '../contract/contract.ts';
import type { EnvironmentConfig } from '../run-config/schema.ts';
import type { Episode } from '../run-directory/episode.ts';
import type { Prompt } from './prompt.ts';

/** What core knows of a type of environment; the trainer plays it. registry.ts lists all of them. */
export interface Environment {
  type: string;
  /** Names that an answer may use; null: it is free text. */
  actions: (config: Record<string, unknown>) => readonly string[] | null;
  /** As presets have it, with the prompts of the starter policy: a bare state, on which it was trained. */
  preset: EnvironmentConfig;
  /** Keys of its configuration that say nothing as the others stand. */
  silent?: (config: Record<string, unknown>) => readonly string[];
  /** Instructions for a published model, in place of the starter's. */
  chatPrompt: Prompt;
  /** The pictures of an episode: the initial state, then what became of each action. */
  frames: (episode: Episode) => Frame[];
}
