import { bandit, banditChatPrompt, banditInverted } from '../environments/bandit.ts';
import { frozenLake, lakeChatPrompt, slipperyLake } from '../environments/frozen-lake.ts';
import { sokoban, sokobanChatPrompt } from '../environments/sokoban.ts';
import { shopLimits, webshop } from '../environments/webshop.ts';
import type { EnvironmentConfig, RunConfig } from '../run-config/schema.ts';
import { type Algorithm, defaultSuffix, starpoVariants } from './algorithms.ts';
import { baseConfig, describe, type Preset } from './base.ts';
import { deviceBytes } from './device-memory.ts';
import { type PublishedModel, publishedModels } from './published.ts';

/** RAGEN's experiments with published language models (arXiv 2504.20073, section 4, and the default configuration) on one GPU. */

interface Task {
  name: string;
  title: string;
  summary: string;
  /** The paper's result for StarPO-S with the smallest model. */
  paper: string | null;
  environments: EnvironmentConfig[];
  rollout?: Partial<RunConfig['rollout']>;
  /** Names of the models that can learn it. Absent: all. */
  models?: readonly string[];
}

/** RAGEN's WebShop. */
const shopTask = (version: 1 | 2, words: Pick<Task, 'name' | 'title' | 'summary'>): Task => ({
  ...words,
  paper: null,
  environments: [
    {
      ...webshop.preset,
      config: { ...webshop.preset.config, wrapper: `ragen_v${version}` },
      prompt: webshop.chatPrompt,
    },
  ],
  rollout: shopLimits,
  models: ['Qwen2.5-3B-Instruct'],
});

const tasks: Task[] = [
  {
    name: 'frozen-lake',
    title: 'FrozenLake',
    summary: 'Cross a frozen lake without stepping into a hole. Moves never slip.',
    paper: null,
    environments: [{ ...frozenLake.preset, prompt: frozenLake.chatPrompt }],
  },
  {
    name: 'frozen-lake-slippery',
    title: 'FrozenLake, slippery',
    summary: "RAGEN's FrozenLake: two moves in three slip sideways.",
    paper: '22 % success after 200 iterations',
    environments: [
      {
        ...slipperyLake,
        prompt: lakeChatPrompt(
          'The ice is slippery: only one move of three goes where it is meant to, the others to a side.',
        ),
      },
    ],
  },
  {
    name: 'sokoban',
    title: 'Sokoban',
    summary: "Push the box onto its target in RAGEN's 6×6 rooms. One wrong push can make a level unsolvable.",
    paper: '20 % success after 200 iterations',
    environments: [{ ...sokoban.preset, prompt: sokobanChatPrompt }],
  },
  {
    name: 'bandit',
    title: 'Bandit',
    summary: 'Choose the arm that pays more on average, judging by its name. One choice per episode.',
    paper: 'always the better arm',
    environments: [{ ...bandit.preset, prompt: banditChatPrompt }],
    rollout: { max_response_tokens: 500, context: 1024 },
  },
  {
    name: 'bandit-inverted',
    title: 'Bandit, inverted (BanditRev)',
    summary:
      'The names mislead: Teacher is the risky arm that pays more, Engineer the safe one. Needs a model that knows words, so the starter policy has no such preset.',
    paper: '68 % on unseen names',
    environments: banditInverted.map((environment) => ({ ...environment, prompt: banditChatPrompt })),
    rollout: { max_response_tokens: 500, context: 1024 },
  },
  shopTask(1, {
    name: 'webshop',
    title: 'WebShop',
    summary: 'Search a shop and buy the product that an instruction asks for, in at most nine actions.',
  }),
  shopTask(2, {
    name: 'webshop-v2',
    title: 'WebShop, perfect purchases only',
    summary: "RAGEN's second version of WebShop: only a purchase that fulfills the whole instruction earns a reward.",
  }),
];

/** Activation recomputation that a model needs to train with a critic on one large GPU. */
const recompute: Record<string, RunConfig['optimizer']['recompute']> = {
  'Qwen2.5-1.5B-Instruct': 'elementwise',
  'Qwen2.5-3B-Instruct': 'block',
};

/** Diagnostics keep a copy of the initial policy, which does not fit on one large GPU for these models. */
const tooLargeForDiagnostics = new Set(['Qwen2.5-3B-Instruct']);

/** Returns RAGEN's default configuration: 8 prompts with 16 rollouts, up to 5 turns of 400 tokens, mini-batches of 32 episodes. */
function ragenConfig(model: PublishedModel, task: Task, id: string): RunConfig {
  return {
    ...baseConfig,
    preset: id,
    device: 'cuda',
    precision: 'bf16',
    exactness: 'fast',
    iterations: 200,
    start: { ...baseConfig.start, model: model.name },
    environments: task.environments,
    rollout: {
      ...baseConfig.rollout,
      groups: 8,
      group_size: 16,
      slots: 128,
      max_response_tokens: 400,
      context: 3600,
      ...task.rollout,
    },
    filter: { ...baseConfig.filter, keep: 0.25 },
    policy_loss: {
      ...baseConfig.policy_loss,
      dual_clip: 3,
      entropy_coefficient: 0.001,
      mini_batch: 32,
    },
    optimizer: {
      ...baseConfig.optimizer,
      learning_rate: 1e-6,
      micro_batch_tokens: 0,
      recompute: recompute[model.name] ?? 'none',
    },
    critic: { ...baseConfig.critic, learning_rate: 1e-5 },
    evaluation: { every: 10, levels: 256, temperature: 0.5 },
    checkpoint: { every: 50, keep: 1 },
    ...(tooLargeForDiagnostics.has(model.name) && { diagnostics: { ...baseConfig.diagnostics, every: 0 } }),
  };
}

function expectation(model: PublishedModel, task: Task, algorithm: Algorithm): string {
  const paper = model === publishedModels[0] && algorithm.suffix === defaultSuffix ? task.paper : null;
  return paper ? `${paper} (paper)` : 'rising success, not measured yet';
}

function makePreset(model: PublishedModel, task: Task, algorithm: Algorithm): Preset {
  const short = `${model.name.replace('-Instruct', '').toLowerCase()}-${task.name}`;
  const base = ragenConfig(model, task, `${short}-${algorithm.suffix}`);
  const config = { ...base, ...algorithm.changes(base) };
  // Plain GRPO has its KL term in the loss, where RAGEN's k1 has an expected gradient of zero.
  if (algorithm.suffix === 'grpo') config.kl = { ...config.kl, coefficient: 0.001, estimator: 'k3', placement: 'loss' };
  const { name, title, repository, license } = model;
  return {
    ...describe(task, algorithm, short),
    id: config.preset,
    expects: expectation(model, task, algorithm),
    model: { name, title, repository, license },
    deviceBytes: deviceBytes(config, model.shape),
    config,
  };
}

export const publishedPresets: readonly Preset[] = publishedModels.flatMap((model) =>
  tasks
    .filter(({ models }) => models?.includes(model.name) ?? true)
    .flatMap((task) => starpoVariants.map((algorithm) => makePreset(model, task, algorithm))),
);
