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

/** `slip`: a sentence about slipping. */
export const lakeChatPrompt = (slip: string): Prompt =>
  gridChatPrompt(
    `You are on a frozen lake. Reach the goal without stepping into a hole; either ends the walk. ${slip}\n` +
      'The lake is a grid, a row a line: P is you, _ is ice, O is a hole, G is the goal.',
  );

/** RAGEN's FrozenLake, 4x4. */
export const frozenLake: Environment = {
  type: 'frozen-lake',
  words: {
    title: 'FrozenLake',
    note: 'Grid and ice',
    fields: [
      {
        path: 'size',
        title: 'Size',
        unit: 'cells',
        help: 'Side length of the square grid. Larger is harder.',
      },
      {
        path: 'p',
        title: 'Ice probability',
        help: 'Probability that a cell is ice. The others are holes. Lower is harder.',
      },
      { path: 'is_slippery', title: 'Slippery', help: 'Moves may slip sideways.' },
      {
        path: 'success_rate',
        title: 'Intended move probability',
        help: 'Probability that a move on slippery ice goes in the chosen direction. Otherwise it slips to either side.',
      },
      {
        path: 'observation_format',
        title: 'Observation',
        help: 'Format of the state in the prompt.',
        choices: { grid: 'Grid', coord: 'Coordinates', grid_coord: 'Grid and coordinates' },
      },
    ],
  },
  actions: () => ['Left', 'Down', 'Right', 'Up'],
  preset: { label: 'frozen-lake', type: 'frozen-lake', config: standard, ...gridRules },
  unusedSettings: ({ is_slippery }) => (is_slippery ? [] : ['success_rate']),
  chatPrompt: lakeChatPrompt('The ice does not slip: every move goes where it is meant to.'),
  rewardRange: () => 1,
  pace: { play: 3.5e-3, learn: 6.5e-3 },
  levelSize: ({ size }) => Number(size) ** 2,
  frames: actionFrames,
};

/** Slippery ice as in Gymnasium and RAGEN: a third of the moves go in the chosen direction and a third to each side. */
export const slipperyLake: EnvironmentConfig = {
  ...frozenLake.preset,
  config: { ...standard, is_slippery: true, success_rate: 1 / 3 },
};
