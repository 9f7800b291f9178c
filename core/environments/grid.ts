import { chatSystem, type Prompt } from './prompt.ts';

/** RAGEN's rules of both grids: up to 5 turns of 5 actions, 10 actions in all. */
export const gridRules = {
  share: 1,
  validate: true,
  noise: 'shared',
  max_turns: 5,
  max_actions_per_turn: 5,
  max_actions: 10,
  prompt: { system: '', first: '{state}', next: '{state}' },
} as const;

/** A grid's prompts for a model that was taught to follow instructions: the rules once, then the state and the form of the reply in every turn. */
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
