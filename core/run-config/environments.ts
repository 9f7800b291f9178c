import { z } from 'zod';

/** RAGEN's env_config keys of each environment type, and the prompts' templates. */

const share = z.number().min(0).max(1);
const score = z.number().min(-1e9).max(1e9);
const armName = z.string().min(1).max(32);

export const frozenLake = z.strictObject({
  size: z.number().int().min(2).max(32),
  p: share,
  is_slippery: z.boolean(),
  success_rate: share,
  observation_format: z.enum(['grid', 'coord', 'grid_coord']),
});

export const bandit = z.strictObject({
  lo_arm_name: armName,
  hi_arm_name: armName,
  lo_arm_score: score,
  hi_arm_loscore: score,
  hi_arm_hiscore: score,
  hi_arm_hiscore_prob: share,
});

const symbol = z.string().min(1).max(8).regex(/^\S+$/, 'must be a symbol without spaces');

export const sokoban = z
  .strictObject({
    dim_x: z.number().int().min(5).max(32),
    dim_y: z.number().int().min(5).max(32),
    num_boxes: z.number().int().min(1).max(16),
    max_steps: z.number().int().min(1).max(10_000),
    search_depth: z.number().int().min(3).max(1000),
    grid_lookup: z
      .strictObject({
        0: symbol,
        1: symbol,
        2: symbol,
        3: symbol,
        4: symbol,
        5: symbol,
        6: symbol,
      })
      .refine((symbols) => new Set(Object.values(symbols)).size === 7, 'uses a symbol twice'),
  })
  .refine(({ dim_x, dim_y, num_boxes }) => num_boxes <= (dim_x - 2) * (dim_y - 2) - 2, {
    path: ['num_boxes'],
    message: 'must leave two of the cells inside the walls free',
  });

const placeholders = [
  'state',
  'reward',
  'turn',
  'actions_left',
  'max_actions',
  'max_tokens',
  'actions',
  'arm_1',
  'arm_2',
];

/** The first thing in a template that is neither a known placeholder nor a doubled brace, or null. */
function templateProblem(template: string): string | null {
  for (const [piece, name] of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
    if (piece === '{{' || piece === '}}') continue;
    if (name === undefined) return `has a single "${piece}"; write "${piece}${piece}" for a brace`;
    if (!placeholders.includes(name))
      return `has an unknown placeholder "${piece}"; known: ${placeholders.join(', ')}`;
  }
  return null;
}

const template = z.string().superRefine((text, context) => {
  const problem = templateProblem(text);
  if (problem) context.addIssue({ code: 'custom', message: problem });
});

export const prompt = z.strictObject({ system: z.string(), first: template, next: template });
