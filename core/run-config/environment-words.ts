import type { SectionWords } from './form-words.ts';

/** What people read of an environment's settings in a form: those that all have, and those of each type. A new environment's come here. */

/** Of each element of `environments`. */
export const environmentWords: SectionWords = {
  id: 'environment',
  title: 'Environment',
  note: 'The rules of its episodes, and what it says to the model',
  fields: [
    { path: 'environments[].share', title: 'Share of the groups', help: 'Of all groups of an iteration.' },
    { path: 'environments[].validate', title: 'Evaluate on it' },
    {
      path: 'environments[].noise',
      title: 'Luck',
      help: 'Whether the members of a group meet the same slips and payouts.',
      choices: {
        shared: 'The same in a group',
        independent: 'Each episode its own',
        reference: 'By the level, as RAGEN',
      },
    },
    { path: 'environments[].max_turns', title: 'Turns', unit: 'turns', help: 'Most of an episode.' },
    {
      path: 'environments[].max_actions_per_turn',
      title: 'Moves a turn',
      unit: 'moves',
      help: 'Further ones are ignored.',
    },
    {
      path: 'environments[].max_actions',
      title: 'Moves an episode',
      unit: 'moves',
      help: 'Most of an episode.',
    },
    { path: 'environments[].prompt.system', title: 'System message', help: 'Empty means none.' },
    {
      path: 'environments[].prompt.first',
      title: 'First message',
      help: 'In braces: state, turn, actions_left, max_actions, max_tokens, actions, reward, and for Bandit arm_1 and arm_2. {{ is a brace.',
    },
    {
      path: 'environments[].prompt.next',
      title: 'Later messages',
      help: 'As the first one; reward is that of the turn before.',
    },
  ],
};

/** `environments[].config`, by type. */
export const typeWords: Record<string, SectionWords> = {
  'frozen-lake': {
    id: 'frozen-lake',
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
  bandit: {
    id: 'bandit',
    title: 'Bandit',
    note: 'Two arms and what they pay',
    fields: [
      { path: 'lo_arm_name', title: 'Safe arm', help: 'Its name.' },
      { path: 'hi_arm_name', title: 'Risky arm', help: 'Its name.' },
      { path: 'lo_arm_score', title: 'Safe arm pays', help: 'Always.' },
      { path: 'hi_arm_loscore', title: 'Risky arm mostly pays', help: 'When it doesn’t win.' },
      { path: 'hi_arm_hiscore', title: 'Risky arm’s prize', help: 'When it wins.' },
      { path: 'hi_arm_hiscore_prob', title: 'Chance of the prize', help: 'Of each pull of the risky arm.' },
    ],
  },
  sokoban: {
    id: 'sokoban',
    title: 'Sokoban',
    note: 'The room and its boxes',
    fields: [
      { path: 'dim_x', title: 'Rows', help: 'The walls around are counted.' },
      { path: 'dim_y', title: 'Columns', help: 'The walls around are counted.' },
      { path: 'num_boxes', title: 'Boxes' },
      {
        path: 'max_steps',
        title: 'Steps of the environment',
        unit: 'moves',
        help: 'After which it ends by itself.',
      },
      { path: 'search_depth', title: 'Depth of the generator', help: 'Deeper makes harder rooms.' },
      ...['Wall', 'Floor', 'Target', 'Box on target', 'Box', 'Player', 'Player on target'].map(
        (title, index) => ({
          path: `grid_lookup.${index}`,
          title: `Symbol: ${title.toLowerCase()}`,
          help: 'What the model reads for it.',
        }),
      ),
    ],
  },
};

/** A type of environment, or a label that is one, as people read it; one that this build doesn't know as it is. */
export const typeTitle = (type: string): string => typeWords[type]?.title ?? type;
