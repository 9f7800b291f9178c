import { z } from 'zod';
import type { Environment } from './environment.ts';
import { actionFrames } from './frames.ts';
import { chatSystem, type Prompt } from './prompt.ts';

const score = z.number().min(-1e9).max(1e9);
const armName = z.string().min(1).max(32);

/** RAGEN's env_config keys. */
const config = z.strictObject({
  lo_arm_name: armName,
  hi_arm_name: armName,
  lo_arm_score: score,
  hi_arm_loscore: score,
  hi_arm_hiscore: score,
  hi_arm_hiscore_prob: z.number().min(0).max(1),
});

const standard: z.infer<typeof config> = {
  lo_arm_name: 'Phoenix',
  hi_arm_name: 'Dragon',
  lo_arm_score: 0.1,
  hi_arm_loscore: 0,
  hi_arm_hiscore: 1,
  hi_arm_hiscore_prob: 0.25,
};

/** RAGEN's Bandit: Phoenix pays 0.1 always, Dragon 1 in a quarter of the pulls; one choice. Each member of a group draws its own payout. */
export const bandit: Environment = {
  type: 'bandit',
  config,
  actions: ({ lo_arm_name, hi_arm_name }) => [String(lo_arm_name), String(hi_arm_name)],
  placeholders: ['arm_1', 'arm_2'],
  preset: {
    label: 'bandit',
    type: 'bandit',
    config: standard,
    share: 1,
    validate: true,
    noise: 'independent',
    max_turns: 1,
    max_actions_per_turn: 1,
    max_actions: 1,
    prompt: { system: '', first: '{arm_1} or {arm_2}?', next: '{state}' },
  },
  frames: (episode) => actionFrames(episode).map((frame) => ({ ...frame, board: null })),
};

export const banditChatPrompt: Prompt = {
  system: chatSystem,
  first:
    'Two machines are called {arm_1} and {arm_2}. Each pays by a law of its own, at which its name hints. You pull one of them, once.\n' +
    'Which pays more on average? Think in at most 100 words, then name the machine, and write nothing else:\n' +
    '<think>your thoughts</think><answer>{arm_1}</answer> or <think>your thoughts</think><answer>{arm_2}</answer>',
  next: '{state}',
};
