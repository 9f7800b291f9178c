import type { Environment } from './environment.ts';
import { actionFrames } from './frames.ts';
import { gridChatPrompt, gridRules } from './grid.ts';

/** RAGEN's SimpleSokoban: 6x6 with one box. */
const standard = {
  dim_x: 6,
  dim_y: 6,
  num_boxes: 1,
  max_steps: 100,
  search_depth: 300,
  grid_lookup: { 0: '#', 1: '_', 2: 'O', 3: '√', 4: 'X', 5: 'P', 6: 'S' },
};

export const sokobanChatPrompt = gridChatPrompt(
  'You are in a walled room and push boxes until every one stands on a target. Walking into a box pushes it, if the cell behind it is free. ' +
    'A box is never pulled, so one in a corner stays there.\n' +
    'The room is a grid, a row a line: # is wall, _ is floor, O is a target, X is a box, √ is a box on a target, P is you, S is you on a target.',
);

export const sokoban: Environment = {
  type: 'sokoban',
  words: {
    title: 'Sokoban',
    note: 'Room size and boxes',
    fields: [
      { path: 'dim_x', title: 'Rows', help: 'Rows of the room, including walls. Larger is harder.' },
      { path: 'dim_y', title: 'Columns', help: 'Columns of the room, including walls. Larger is harder.' },
      { path: 'num_boxes', title: 'Boxes', help: 'Number of boxes. More are harder.' },
      {
        path: 'max_steps',
        title: 'Step limit',
        unit: 'actions',
        help: 'Maximum actions before the environment ends the episode.',
      },
      {
        path: 'search_depth',
        title: 'Generator search depth',
        help: 'Search depth of the level generator. Higher makes harder levels.',
      },
      ...['Wall', 'Floor', 'Target', 'Box on target', 'Box', 'Player', 'Player on target'].map((title, index) => ({
        path: `grid_lookup.${index}`,
        title: `Symbol: ${title.toLowerCase()}`,
        help: 'Symbol in the text observation.',
      })),
    ],
  },
  actions: () => ['Up', 'Down', 'Left', 'Right'],
  preset: { label: 'sokoban', type: 'sokoban', config: standard, ...gridRules },
  chatPrompt: sokobanChatPrompt,
  // An action costs 0.1. A box on a target earns 1, the last box 10 more.
  rewardRange: ({ num_boxes = 1 }, maxActions) => Number(num_boxes) + 10 + 0.1 * maxActions,
  pace: { play: 1e-2, learn: 2.4e-2 },
  levelSize: ({ dim_x, dim_y }) => Number(dim_x) * Number(dim_y),
  frames: actionFrames,
};
