import { z } from 'zod';

/** Templates of what an environment says to a model. */

const commonPlaceholders = [
  'state',
  'reward',
  'turn',
  'actions_left',
  'max_actions',
  'max_tokens',
  'actions',
];

/** The prompts of run.json; `own`: placeholders that environments have beside the common ones. */
export function promptSchema(own: readonly string[]) {
  const placeholders = [...commonPlaceholders, ...own];
  const template = z.string().superRefine((text, context) => {
    const problem = templateProblem(text, placeholders);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });
  return z.strictObject({ system: z.string(), first: template, next: template });
}
export type Prompt = z.infer<ReturnType<typeof promptSchema>>;

/** The first thing in a template that is neither a known placeholder nor a doubled brace, or null. */
function templateProblem(template: string, placeholders: readonly string[]): string | null {
  for (const [piece, name] of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
    if (piece === '{{' || piece === '}}') continue;
    if (name === undefined) return `has a single "${piece}"; write "${piece}${piece}" for a brace`;
    if (!placeholders.includes(name))
      return `has an unknown placeholder "${piece}"; known: ${placeholders.join(', ')}`;
  }
  return null;
}

/** The system prompt for models that were taught to follow instructions. */
export const chatSystem =
  'You act in small worlds, turn by turn. You think before you act, and you answer in exactly the form that is asked for.';
