import type { EnvironmentConfig } from '../run-config/schema.ts';
import type { Environment } from './environment.ts';
import { actionFrames } from './frames.ts';
import { gridChatPrompt, gridRules } from './grid.ts';
import type { Prompt } from './prompt.ts';

const standard = {
  size: 4,
  p: 0.8,
  is_slippery: false,
  success_rate: 0.8,
  observation_format: 'grid',
};

/** `slip`: a sentence on how the ice has it. */
export const lakeChatPrompt = (slip: string): Prompt =>
  gridChatPrompt(
    `You are on a frozen lake. Reach the goal without stepping into a hole; either ends the walk. ${slip}\n` +
      'The lake is a grid, a row a line: P is you, _ is ice, O is a hole, G is the goal.',
  );

/** FrozenLake as RAGEN trains it: 4x4. */
export const frozenLake: Environment = {
  type: 'frozen-lake',
  words: {
    title: 'FrozenLake',
    note: 'The lake and its ice',
    fields: [
      { path: 'size', title: 'Size', unit: 'cells a side', help: 'The lake is a square.' },
      { path: 'p', title: 'Share of ice', help: 'Chance that a cell is frozen; the others are holes.' },
      { path: 'is_slippery', title: 'Slippery', help: 'Moves may go to a side.' },
      {
        path: 'success_rate',
        title: 'Chance to go straight',
        help: 'On slippery ice: that a move goes where it is meant to.',
      },
      {
        path: 'observation_format',
        title: 'What is shown',
        help: 'Of the lake, to the model.',
        choices: { grid: 'The grid', coord: 'Coordinates', grid_coord: 'Both' },
      },
    ],
  },
  actions: () => ['Left', 'Down', 'Right', 'Up'],
  preset: { label: 'frozen-lake', type: 'frozen-lake', config: standard, ...gridRules },
  silent: ({ is_slippery }) => (is_slippery ? [] : ['success_rate']),
  chatPrompt: lakeChatPrompt('The ice does not slip: every move goes where it is meant to.'),
  rewardRange: () => 1,
  pace: { play: 3.5e-3, learn: 6.5e-3 },
  levelSize: ({ size }) => Number(size) ** 2,
  frames: actionFrames,
};

/** Gymnasium's slips, which RAGEN's FrozenLake has too: a third of the moves go where they were meant to, as many to each side. */
export const slipperyLake: EnvironmentConfig = {
  ...frozenLake.preset,
  config: { ...standard, is_slippery: true, success_rate: 1 / 3 },
};
