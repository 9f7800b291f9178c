import options from './options.json' with { type: 'json' };

/** What people read of run.json's keys in a form: titles, units, and where they stand. Help is `meanings` of options.json, unless it is given here. Those of environments stand in environment-words.ts and in their rooms. */

export interface FieldWords {
  path: string;
  title: string;
  unit?: string;
  help?: string;
  /** Titles of choices; a choice that isn't here is shown as it is. */
  choices?: Record<string, string>;
}

export interface SectionWords {
  id: string;
  title: string;
  note: string;
  fields: readonly FieldWords[];
}

const choicesOfReaction = {
  notify: 'Tell me',
  pause: 'Pause',
  stop: 'Stop',
  rollback: 'Roll back',
};

export const sections: readonly SectionWords[] = [
  {
    id: 'run',
    title: 'Run',
    note: 'How long, from which random numbers, and where it is computed',
    fields: [
      {
        path: 'iterations',
        title: 'Iterations',
        help: 'In each, a batch of episodes is played and the policy is updated with it.',
      },
      {
        path: 'seed',
        title: 'Seed',
        help: 'Every random draw follows from it: the same seed gives the same run.',
      },
      {
        path: 'device',
        title: 'Device',
        help: 'The processor (cpu), the first GPU that can be used (cuda), a certain one (cuda:0), or a GPU where there is one (auto).',
      },
      { path: 'threads', title: 'Threads', help: 'Of the processor; 0 means one for each core.' },
      {
        path: 'precision',
        title: 'Precision',
        help: 'Arithmetic of the model’s products. bf16 needs a GPU, or a processor with AMX or AVX512-BF16.',
      },
      {
        path: 'exactness',
        title: 'Exactness',
        help: 'On a GPU: whether playing and updating compute log-probabilities to the same bits, or as fast as they can.',
        choices: { exact: 'Exact', fast: 'Fast' },
      },
    ],
  },
  {
    id: 'model',
    title: 'Model',
    note: 'The policy that it begins with',
    fields: [
      {
        path: 'start.model',
        title: 'Model',
        help: 'One that is on this machine, or another folder in Hugging Face layout. Other settings stay as they are; the Models page has a form with those that suit a model of its size.',
      },
      {
        path: 'start.weights',
        title: 'Weights',
        help: 'The folder’s weights, or new random ones.',
        choices: { load: 'From the folder', random: 'Random' },
      },
    ],
  },
  {
    id: 'rollout',
    title: 'Episodes',
    note: 'What is played in each iteration, and how replies are sampled',
    fields: [
      {
        path: 'rollout.groups',
        title: 'Groups',
        help: 'Levels an iteration; each is played by one group of episodes.',
      },
      {
        path: 'rollout.group_size',
        title: 'Group size',
        unit: 'episodes',
        help: 'Episodes played from each level.',
      },
      {
        path: 'rollout.temperature',
        title: 'Temperature',
        help: 'Of sampling in training; higher is more varied.',
      },
      {
        path: 'rollout.top_p',
        title: 'Top p',
        help: 'Samples from the likeliest tokens of this share; 1 is off.',
      },
      {
        path: 'rollout.top_k',
        title: 'Top k',
        unit: 'tokens',
        help: 'Samples from so many likeliest tokens; 0 is off.',
      },
      {
        path: 'rollout.min_p',
        title: 'Min p',
        help: 'Leaves out tokens less likely than this share of the likeliest; 0 is off.',
      },
      {
        path: 'rollout.max_response_tokens',
        title: 'Longest reply',
        unit: 'tokens',
        help: 'Of a turn, its end included.',
      },
      {
        path: 'rollout.context',
        title: 'Longest episode',
        unit: 'tokens',
        help: 'Prompts and replies together.',
      },
      {
        path: 'rollout.think',
        title: 'Think before acting',
        help: 'Replies are a thought and an answer; without it, an answer alone.',
      },
      {
        path: 'rollout.slots',
        title: 'Episodes at once',
        unit: 'episodes',
        help: 'Most that are decoded at a time. More take more memory; the result is the same, except on a GPU whose exactness is fast.',
      },
    ],
  },
  {
    id: 'levels',
    title: 'Levels',
    note: 'Which levels are played in training and in evaluations',
    fields: [
      { path: 'levels.train_seed', title: 'First training level', help: 'Levels count on from this seed.' },
      {
        path: 'levels.pool',
        title: 'Training levels in all',
        unit: 'levels',
        help: 'They come again after so many; 0 means fresh ones for ever.',
      },
      {
        path: 'levels.validation_seed',
        title: 'First evaluation level',
        help: 'Evaluations always play the same levels from this seed on.',
      },
    ],
  },
  {
    id: 'filter',
    title: 'Rewards and filter',
    note: 'What an invalid reply costs, and which groups are trained on',
    fields: [
      {
        path: 'reward.format_penalty',
        title: 'Penalty for an invalid reply',
        help: 'Added once for a turn whose reply has not the right form, or names no valid action.',
      },
      {
        path: 'filter.strategy',
        title: 'Groups trained on',
        help: 'StarPO-S trains on the groups whose rewards differ most.',
        choices: {
          none: 'All',
          fraction: 'Those with most spread',
          top_p: 'A share of the spread',
        },
      },
      { path: 'filter.keep', title: 'Share kept', help: 'Of the groups, or of the summed spread.' },
    ],
  },
  {
    id: 'advantage',
    title: 'Advantages and critic',
    note: 'What an episode is compared with',
    fields: [
      {
        path: 'advantage.estimator',
        title: 'Estimator',
        help: 'An episode is compared with its group, or with what a critic expected (GAE).',
        choices: { grpo: 'GRPO', dr_grpo: 'Dr. GRPO', rloo: 'RLOO', gae: 'GAE, with a critic' },
      },
      {
        path: 'advantage.gamma',
        title: 'Discount γ',
        help: 'Of later rewards, for each token; 1 discounts nothing.',
      },
      { path: 'advantage.lambda', title: 'GAE λ', help: '1 trusts the returns, 0 the critic.' },
      {
        path: 'advantage.whiten',
        title: 'Whiten advantages',
        help: 'To mean 0 and deviation 1 over all trained tokens.',
      },
      {
        path: 'critic.model',
        title: 'Critic',
        help: 'A model of its own about doubles the time of an update; a head is one layer on the policy’s features.',
        choices: { none: 'None', full: 'A model of its own', head: 'A head on the policy' },
      },
      { path: 'critic.learning_rate', title: 'Critic’s learning rate' },
      {
        path: 'critic.value_clip',
        title: 'Value clip',
        help: 'How far a value may move in an update before it is taught no more; 0 is off.',
      },
      {
        path: 'critic.gradient_clip',
        title: 'Critic’s gradient clip',
        help: 'Largest global norm; 0 is off.',
      },
      {
        path: 'critic.warmup',
        title: 'Critic’s warm-up',
        unit: 'iterations',
        help: 'Iterations that train the critic alone.',
      },
    ],
  },
  {
    id: 'loss',
    title: 'Policy loss',
    note: 'PPO’s clipped objective',
    fields: [
      { path: 'policy_loss.clip_low', title: 'Clip below', help: 'The ratio is clipped at 1 minus this.' },
      {
        path: 'policy_loss.clip_high',
        title: 'Clip above',
        help: 'The ratio is clipped at 1 plus this; StarPO-S clips higher above.',
      },
      {
        path: 'policy_loss.dual_clip',
        title: 'Dual clip',
        help: 'Bounds the loss of bad episodes; 0 is off, else at least 1.',
      },
      { path: 'policy_loss.entropy_coefficient', title: 'Entropy bonus', help: 'Keeps replies varied.' },
      {
        path: 'policy_loss.average',
        title: 'Average over',
        help: 'How the losses of tokens become one.',
        choices: {
          trajectory: 'Mean of each episode',
          token: 'All tokens',
          trajectory_sum: 'Sum of each episode',
          fixed_length: 'Sum, by the longest',
        },
      },
      {
        path: 'policy_loss.mini_batch',
        title: 'Mini-batch',
        unit: 'episodes',
        help: 'Episodes of one optimiser step; whole groups, so a multiple of the group size.',
      },
      { path: 'policy_loss.epochs', title: 'Epochs', help: 'Passes over the episodes of an iteration.' },
    ],
  },
  {
    id: 'optimizer',
    title: 'Optimiser',
    note: 'AdamW',
    fields: [
      {
        path: 'optimizer.learning_rate',
        title: 'Learning rate',
        help: 'Too high a rate is the surest way into the Echo Trap.',
      },
      {
        path: 'optimizer.warmup',
        title: 'Warm-up',
        unit: 'steps',
        help: 'Optimiser steps in which the rate rises to its full value.',
      },
      {
        path: 'optimizer.schedule',
        title: 'Schedule',
        help: 'How the rate falls to 0 over all iterations.',
        choices: { constant: 'Constant', linear: 'Linear', cosine: 'Cosine' },
      },
      { path: 'optimizer.beta1', title: 'β₁' },
      { path: 'optimizer.beta2', title: 'β₂' },
      { path: 'optimizer.epsilon', title: 'ε' },
      { path: 'optimizer.weight_decay', title: 'Weight decay' },
      { path: 'optimizer.gradient_clip', title: 'Gradient clip', help: 'Largest global norm; 0 is off.' },
      {
        path: 'optimizer.micro_batch_tokens',
        title: 'Micro-batch',
        unit: 'tokens',
        help: 'Tokens of one forward and backward pass; 0 means as many as suit the device. Fewer take less memory.',
      },
      {
        path: 'optimizer.recompute',
        title: 'Recompute to save memory',
        help: 'On a GPU: what the backward pass computes again instead of keeping it, memory for time.',
        choices: { none: 'Nothing', elementwise: 'What is cheap', block: 'Whole blocks' },
      },
    ],
  },
  {
    id: 'kl',
    title: 'Divergence from the start',
    note: 'A penalty for leaving a reference policy',
    fields: [
      { path: 'kl.coefficient', title: 'KL coefficient', help: '0 is off, and nothing of it is computed.' },
      {
        path: 'kl.estimator',
        title: 'KL estimator',
        help: 'With d = log-probability minus the reference’s: k1 is d, k2 is d²/2, k3 is exp(−d) − 1 + d.',
      },
      {
        path: 'kl.placement',
        title: 'KL is part of',
        choices: { reward: 'Each token’s reward', loss: 'The loss' },
        help: 'Where the penalty acts.',
      },
      {
        path: 'kl.reference',
        title: 'Reference model',
        help: 'A model folder; empty means the policy that the run begins with.',
      },
    ],
  },
  {
    id: 'evaluation',
    title: 'Evaluation and files',
    note: 'How often it is evaluated, and what is kept on disk',
    fields: [
      {
        path: 'evaluation.every',
        title: 'Evaluate every',
        unit: 'iterations',
        help: '0 means only at the start and at the end.',
      },
      {
        path: 'evaluation.levels',
        title: 'Evaluation levels',
        unit: 'levels',
        help: 'Fixed levels of each environment.',
      },
      {
        path: 'evaluation.temperature',
        title: 'Evaluation temperature',
        help: 'Of sampling in evaluations.',
      },
      {
        path: 'checkpoint.every',
        title: 'Checkpoint every',
        unit: 'iterations',
        help: '0 means only at the start and at the end.',
      },
      {
        path: 'checkpoint.keep',
        title: 'Checkpoints with optimiser state',
        help: 'Newest ones that a run can go on from to the same bits; older ones keep their weights.',
      },
      {
        path: 'rollout_files.keep_last',
        title: 'Keep episodes of the last',
        unit: 'iterations',
        help: '0 keeps the episodes of all.',
      },
      {
        path: 'rollout_files.keep_every',
        title: 'Also keep every n-th',
        unit: 'iterations',
        help: 'Every m-th iteration’s episodes stay too; 0 means none.',
      },
      {
        path: 'storage.budget_gigabytes',
        title: 'Disk budget',
        unit: 'GB',
        help: 'The run warns before its folder grows beyond this; 0 means never.',
      },
    ],
  },
  {
    id: 'echo-trap',
    title: 'Echo Trap',
    note: 'How collapse is watched for, and what is done about it',
    fields: [
      {
        path: 'reaction',
        title: 'When the Echo Trap shows',
        help: 'Done without being asked, while StarPO Studio or its command line runs. A roll-back goes on from the last healthy checkpoint, at most twice.',
        choices: choicesOfReaction,
      },
      {
        path: 'diagnostics.every',
        title: 'Diagnostics every',
        unit: 'iterations',
        help: 'Measures what thoughts depend on and how far the policy has come; 0 is never. It changes nothing of the training.',
      },
      {
        path: 'diagnostics.samples',
        title: 'Samples of a diagnostic',
        unit: 'episodes',
        help: 'More are more precise, and slower.',
      },
      {
        path: 'diagnostics.probe',
        title: 'On fixed levels',
        help: 'Thoughts are compared on the same eight levels every time, which are played for it: steadier, and somewhat slower.',
      },
    ],
  },
];

/** What a form doesn't offer: core keeps it, or it is reserved. */
export const kept: readonly string[] = [
  'version',
  'preset',
  'task',
  'start.sha256',
  'start.run',
  'start.checkpoint',
  'start.keep_optimizer',
  'parent.run',
  'parent.iteration',
  'environments',
  'environments[].label',
  'environments[].type',
  'environments[].config',
  'rollout.samples',
  'reward.terms',
  'warm_start.steps_per_iteration',
  'warm_start.batch',
  'warm_start.plain',
  'warm_start.positions',
  'warm_start.careful',
  'warm_start.mistakes',
];

/** What matters first. */
export const firstPaths: readonly string[] = [
  'iterations',
  'seed',
  'start.model',
  'optimizer.learning_rate',
  'rollout.groups',
  'reaction',
];

const meanings: Readonly<Record<string, string>> = options.meanings;
/** What a setting means, without Markdown's marks: its links lead to the documentation's other pages. */
export const settingMeaning = (path: string): string =>
  (meanings[path] ?? '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
