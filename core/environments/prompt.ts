import type { EnvironmentConfig } from '../run-config/schema.ts';

/** Templates of what an environment says to a model; docs/formats/run-config.md lists what they may hold in braces. */
export type Prompt = EnvironmentConfig['prompt'];

/** The system prompt for models that were taught to follow instructions. */
export const chatSystem =
  'You act in small worlds, turn by turn. You think before you act, and you answer in exactly the form that is asked for.';
