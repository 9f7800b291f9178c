import { z } from 'zod';
import type { Environment } from './environment.ts';
import { actionFrames } from './frames.ts';
import { gridChatPrompt, gridRules } from './grid.ts';

const symbol = z.string().min(1).max(8).regex(/^\S+$/, 'must be a symbol without spaces');

/** RAGEN's env_config keys. */
const config = z
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

/** RAGEN's simple room: 6x6 with one box. */
const standard: z.infer<typeof config> = {
  dim_x: 6,
  dim_y: 6,
  num_boxes: 1,
  max_steps: 100,
  search_depth: 300,
  grid_lookup: { 0: '#', 1: '_', 2: 'O', 3: '√', 4: 'X', 5: 'P', 6: 'S' },
};

export const sokoban: Environment = {
  type: 'sokoban',
  config,
  actions: () => ['Up', 'Down', 'Left', 'Right'],
  placeholders: [],
  preset: { label: 'sokoban', type: 'sokoban', config: standard, ...gridRules },
  frames: actionFrames,
};

export const sokobanChatPrompt = gridChatPrompt(
  'You are in a walled room and push boxes until every one stands on a target. Walking into a box pushes it, if the cell behind it is free. ' +
    'A box is never pulled, so one in a corner stays there.\n' +
    'The room is a grid, a row a line: # is wall, _ is floor, O is a target, X is a box, √ is a box on a target, P is you, S is you on a target.',
);
