import type { EnvironmentConfig } from './schema.ts';

/** Prompts for models that were taught to follow instructions: the starter's are a bare state, which it was trained on. */

type Prompt = EnvironmentConfig['prompt'];

const system =
  'You act in small worlds, turn by turn. You think before you act, and you answer in exactly the form that is asked for.';

/** A grid's prompts: the rules once, then the state and the form of the reply in every turn. */
function gridPrompt(rules: string): Prompt {
  const turn =
    'Turn {turn}, {actions_left} moves left:\n{state}\n\n' +
    'Give 1 to {max_actions} moves, joined by " || ". Think in at most 100 words, then give the moves, and write nothing else:\n' +
    '<think>your thoughts</think><answer>first move || second move</answer>';
  return {
    system,
    first: `${rules}\nMoves: {actions}.\n\n${turn}`,
    next: `That turn's reward: {reward}\n\n${turn}`,
  };
}

export const lakePrompt = (slip: string) =>
  gridPrompt(
    `You are on a frozen lake. Reach the goal without stepping into a hole; either ends the walk. ${slip}\n` +
      'The lake is a grid, a row a line: P is you, _ is ice, O is a hole, G is the goal.',
  );

export const sokobanPrompt = gridPrompt(
  'You are in a walled room and push boxes until every one stands on a target. Walking into a box pushes it, if the cell behind it is free. ' +
    'A box is never pulled, so one in a corner stays there.\n' +
    'The room is a grid, a row a line: # is wall, _ is floor, O is a target, X is a box, √ is a box on a target, P is you, S is you on a target.',
);

export const banditPrompt: Prompt = {
  system,
  first:
    'Two machines are called {arm_1} and {arm_2}. Each pays by a law of its own, at which its name hints. You pull one of them, once.\n' +
    'Which pays more on average? Think in at most 100 words, then name the machine, and write nothing else:\n' +
    '<think>your thoughts</think><answer>{arm_1}</answer> or <think>your thoughts</think><answer>{arm_2}</answer>',
  next: '{state}',
};
