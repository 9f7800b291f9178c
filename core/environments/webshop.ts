import type { Environment } from './environment.ts';
import { actionFrames } from './frames.ts';
import { chatSystem, type Prompt } from './prompt.ts';

const standard = {
  catalogue: 'synthetic:1000:1',
  observation_mode: 'text',
  human_goals: false,
  show_attrs: false,
  price_seed: 0,
  wrapper: 'compact',
  split: 'auto',
};

const turn = 'Turn {turn}, {actions_left} actions left:\n{state}\n\n';
const answer =
  'Give one action. Think in at most 100 words, then give the action, and write nothing else:\n' +
  '<think>your thoughts</think><answer>search[words] or click[a text of the page]</answer>';

export const shopRules =
  'You shop for a product that fits an instruction. search[words] finds products. click[text] opens a product, chooses an option, ' +
  'presses a button or, with click[buy now], buys the product as chosen. A purchase ends the episode. Its reward is the share of the ' +
  'instruction that it fulfills: kind of product, attributes, options and price.';

export const shopChatPrompt: Prompt = {
  system: chatSystem,
  first: `${shopRules}\n\n${turn}${answer}`,
  next: `That turn's reward: {reward}\n\n${turn}${answer}`,
};

/** Limits for language models, which read pages of ten products: conversations are long, and few fit into memory at once. */
export const shopLimits = { slots: 32, context: 15_000 };

/** WebShop with RAGEN's limits: nine turns with one action. See docs/webshop.md. */
export const webshop: Environment = {
  type: 'webshop',
  words: {
    title: 'WebShop',
    note: 'Catalogue and goals',
    fields: [
      {
        path: 'catalogue',
        title: 'Catalogue',
        help: "A folder with WebShop's files, or synthetic:N:SEED for N generated products.",
      },
      {
        path: 'observation_mode',
        title: 'Observation',
        help: 'Text of a page. Rich text marks buttons and chosen options.',
        choices: { text: 'Text', text_rich: 'Rich text' },
      },
      {
        path: 'human_goals',
        title: 'Human goals',
        help: 'Human-written instructions instead of synthetic ones.',
      },
      { path: 'show_attrs', title: 'Attribute pages', help: 'An attribute page for each product.' },
      {
        path: 'price_seed',
        title: 'Price seed',
        help: 'Seed for prices within a range and for the price limits of instructions.',
      },
      {
        path: 'wrapper',
        title: 'Wrapper',
        help: 'Format of observations and rewards. RAGEN adds advice and a list of actions; version 2 rewards only perfect purchases.',
        choices: { none: 'WebShop', ragen_v1: 'RAGEN, version 1', ragen_v2: 'RAGEN, version 2', compact: 'Compact' },
      },
      {
        path: 'split',
        title: 'Goals',
        help: 'Goals to play. Automatic uses training goals in training and validation goals in evaluations.',
        choices: { auto: 'Automatic', train: 'Training', val: 'Validation', test: 'Test' },
      },
    ],
  },
  actions: () => null,
  preset: {
    label: 'webshop',
    type: 'webshop',
    config: standard,
    files_sha256: '',
    share: 1,
    validate: true,
    noise: 'shared',
    max_state_tokens: 0,
    max_turns: 9,
    max_actions_per_turn: 1,
    max_actions: 9,
    prompt: { system: '', first: '{state}', next: '{state}' },
  },
  unusedSettings: ({ wrapper, split }) => [
    ...(wrapper === 'none' && split !== 'auto' ? ['split'] : []),
    ...(wrapper === 'compact' ? ['observation_mode'] : []),
  ],
  describe: ({ catalogue, human_goals, show_attrs, wrapper, price_seed }) => [
    // A paper names the folder without its path on this machine.
    `catalogue ${String(catalogue).split('/').at(-1)}`,
    `${human_goals ? 'human' : 'synthetic'} goals`,
    ...(show_attrs ? ['pages of attributes'] : []),
    ...(wrapper === 'none' ? [] : [`wrapper ${wrapper}`]),
    `price seed ${price_seed}`,
  ],
  chatPrompt: shopChatPrompt,
  pace: { play: 9.4e-3, learn: 1.7e-2 },
  rewardRange: () => 1,
  frames: actionFrames,
};
