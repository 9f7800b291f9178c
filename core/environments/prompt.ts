import type { EnvironmentConfig } from '../run-config/schema.ts';

/** Prompt templates of an environment. docs/formats/run-config.md lists the variables. */
export type Prompt = EnvironmentConfig['prompt'];

/** System prompt for instruction-tuned models. */
export const chatSystem =
  'You act in small worlds, turn by turn. You think before you act, and you answer in exactly the form that is asked for.';
