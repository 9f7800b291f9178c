import { environments } from '../environments/registry.ts';
import type { SectionWords } from '../run-config/form-words.ts';

/** Settings that each element of `environments` has. */
export const environmentWords: SectionWords = {
  id: 'environment',
  title: 'Environment',
  note: 'Rules of its episodes, and its prompts',
  fields: [
    { path: 'environments[].share', title: 'Fraction of groups' },
    { path: 'environments[].validate', title: 'Evaluate' },
    {
      path: 'environments[].noise',
      title: 'Randomness',
      choices: {
        shared: 'Shared within group',
        independent: 'Per episode',
        reference: 'Fixed by level (RAGEN)',
      },
    },
    { path: 'environments[].max_state_tokens', title: 'Max state tokens', unit: 'tokens' },
    { path: 'environments[].max_turns', title: 'Max turns per episode' },
    { path: 'environments[].max_actions_per_turn', title: 'Max actions per turn' },
    { path: 'environments[].max_actions', title: 'Max actions per episode' },
    { path: 'environments[].prompt.system', title: 'System message' },
    { path: 'environments[].prompt.first', title: 'First message' },
    { path: 'environments[].prompt.next', title: 'Later messages' },
  ],
};

/** Settings in `environments[].config`, by type of environment. */
export const typeWords: Record<string, SectionWords> = Object.fromEntries(
  environments.map(({ type, words }) => [type, { id: type, ...words }]),
);

/** Returns the title of an environment type, or of a label that equals one. Unknown types are returned unchanged. */
export const typeTitle = (type: string): string => typeWords[type]?.title ?? type;
