import type { EnvironmentConfig } from '../run-config/schema.ts';
import type { Environment } from './environment.ts';
import { actionFrames } from './frames.ts';
import { chatSystem, type Prompt } from './prompt.ts';

const standard = {
  lo_arm_name: 'Phoenix',
  hi_arm_name: 'Dragon',
  lo_arm_score: 0.1,
  hi_arm_loscore: 0,
  hi_arm_hiscore: 1,
  hi_arm_hiscore_prob: 0.25,
};

export const banditChatPrompt: Prompt = {
  system: chatSystem,
  first:
    'Two machines are called {arm_1} and {arm_2}. Each pays by a law of its own, at which its name hints. You pull one of them, once.\n' +
    'Which pays more on average? Think in at most 100 words, then name the machine, and write nothing else:\n' +
    '<think>your thoughts</think><answer>{arm_1}</answer> or <think>your thoughts</think><answer>{arm_2}</answer>',
  next: '{state}',
};

/** RAGEN's Bandit with one choice: Phoenix always pays 0.1, Dragon pays 1 with probability 0.25. Payouts are drawn per episode. */
export const bandit: Environment = {
  type: 'bandit',
  words: {
    title: 'Bandit',
    note: 'Two arms and their payouts',
    fields: [
      { path: 'lo_arm_name', title: 'Safe arm', help: 'Name of the arm with the fixed payout.' },
      { path: 'hi_arm_name', title: 'Risky arm', help: 'Name of the arm with the random payout.' },
      { path: 'lo_arm_score', title: 'Safe payout', help: 'Reward for the safe arm.' },
      { path: 'hi_arm_loscore', title: 'Risky payout, low', help: 'Reward for the risky arm when it loses.' },
      { path: 'hi_arm_hiscore', title: 'Risky payout, high', help: 'Reward for the risky arm when it wins.' },
      {
        path: 'hi_arm_hiscore_prob',
        title: 'Win probability',
        help: 'Probability of the high payout per pull of the risky arm.',
      },
    ],
  },
  describe: (config) => {
    const { lo_arm_score, hi_arm_loscore, hi_arm_hiscore, hi_arm_hiscore_prob } = { ...standard, ...config };
    return [
      `safe payout ${lo_arm_score}`,
      `risky payout ${hi_arm_hiscore} with probability ${hi_arm_hiscore_prob} and else ${hi_arm_loscore}`,
    ];
  },
  actions: ({ lo_arm_name, hi_arm_name }) => [String(lo_arm_name), String(hi_arm_name)],
  preset: {
    label: 'bandit',
    type: 'bandit',
    config: standard,
    files_sha256: '',
    share: 1,
    validate: true,
    noise: 'independent',
    max_state_tokens: 0,
    max_turns: 1,
    max_actions_per_turn: 1,
    max_actions: 1,
    prompt: { system: '', first: '{arm_1} or {arm_2}?', next: '{state}' },
  },
  chatPrompt: banditChatPrompt,
  rewardRange: (config) => {
    const { lo_arm_score, hi_arm_loscore, hi_arm_hiscore } = { ...standard, ...config };
    const payouts = [lo_arm_score, hi_arm_loscore, hi_arm_hiscore].map(Number);
    return Math.max(...payouts) - Math.min(...payouts, 0);
  },
  pace: { play: 1e-3, learn: 1.3e-3 },
  frames: (episode) => actionFrames(episode).map((frame) => ({ ...frame, board: null })),
};

const named = (label: string, safe: string, risky: string): EnvironmentConfig => ({
  ...bandit.preset,
  label,
  config: { ...standard, lo_arm_name: safe, hi_arm_name: risky },
});

/**
 * The RAGEN paper's BanditRev: the same game with names that mislead, since the risky arm has the cautious profession. The second environment
 * evaluates unseen names.
 */
export const banditInverted: readonly [EnvironmentConfig, EnvironmentConfig] = [
  named('bandit-inverted', 'Engineer', 'Teacher'),
  { ...named('bandit-inverted-unseen', 'Trader', 'Librarian'), share: 0 },
];
