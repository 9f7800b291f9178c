import type { z } from 'zod';
import type { Frame } from '../contract/contract.ts';
import type { EnvironmentConfig } from '../run-config/schema.ts';
import type { Episode } from '../run-directory/episode.ts';

/** What core knows of a type of environment; the trainer plays it. registry.ts lists all of them. */
export interface Environment {
  type: string;
  /** The keys of its `config` in run.json. */
  config: z.ZodObject;
  /** Names that an answer may use; null: it is free text. */
  actions: (config: Record<string, unknown>) => readonly string[] | null;
  /** What its prompts may hold in braces beside what those of every environment may. */
  placeholders: readonly string[];
  /** As presets have it, with the prompts of the starter policy: a bare state, on which it was trained. */
  preset: EnvironmentConfig;
  /** The pictures of an episode: the initial state, then what became of each action. */
  frames: (episode: Episode) => Frame[];
}
