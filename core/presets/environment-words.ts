import { environments } from '../environments/registry.ts';
import type { SectionWords } from '../run-config/form-words.ts';

/** What people read of an environment's settings in a form: those that all have, and those of each type, which stand in its room. */

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
export const typeWords: Record<string, SectionWords> = Object.fromEntries(
  environments.map(({ type, words }) => [type, { id: type, ...words }]),
);

/** A type of environment, or a label that is one, as people read it; one that this build doesn't know as it is. */
export const typeTitle = (type: string): string => typeWords[type]?.title ?? type;
