import { chatSystem, type Prompt } from './prompt.ts';

/** RAGEN's limits for grid environments: 5 turns, 5 actions per turn, 10 actions per episode. */
export const gridRules = {
  files_sha256: '',
  share: 1,
  validate: true,
  noise: 'shared',
  max_state_tokens: 0,
  max_turns: 5,
  max_actions_per_turn: 5,
  max_actions: 10,
  prompt: { system: '', first: '{state}', next: '{state}' },
} as const;

/** Prompts of a grid environment for instruction-tuned models: the rules once, then the state and the response format in every turn. */
export function gridChatPrompt(rules: string): Prompt {
  const turn =
    'Turn {turn}, {actions_left} moves left:\n{state}\n\n' +
    'Give 1 to {max_actions} moves, joined by " || ". Think in at most 100 words, then give the moves, and write nothing else:\n' +
    '<think>your thoughts</think><answer>first move || second move</answer>';
  return {
    system: chatSystem,
    first: `${rules}\nMoves: {actions}.\n\n${turn}`,
    next: `That turn's reward: {reward}\n\n${turn}`,
  };
}
