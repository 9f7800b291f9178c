import { estimatorTitles } from './estimators.ts';
import options from './options.json' with { type: 'json' };

/**
 * Titles, units and order of the settings in the form. The help text of each setting is in options.json (`meanings`). Words of environment
 * settings are in presets/environment-words.ts and next to each environment.
 */

export interface FieldWords {
  path: string;
  title: string;
  unit?: string;
  /** Only for settings of an environment type; all others have their help in options.json. */
  help?: string;
  /** Titles of choices. A choice without one is shown as it is. */
  choices?: Record<string, string>;
}

export interface SectionWords {
  id: string;
  title: string;
  note: string;
  fields: readonly FieldWords[];
}

export const sections: readonly SectionWords[] = [
  {
    id: 'run',
    title: 'Run',
    note: 'Length, seed and device',
    fields: [
      { path: 'iterations', title: 'Iterations' },
      { path: 'seed', title: 'Seed' },
      { path: 'device', title: 'Device' },
      { path: 'threads', title: 'CPU threads' },
      { path: 'precision', title: 'Precision' },
      { path: 'exactness', title: 'Exactness', choices: { exact: 'Exact', fast: 'Fast' } },
    ],
  },
  {
    id: 'model',
    title: 'Model',
    note: 'The initial policy',
    fields: [
      { path: 'start.model', title: 'Model' },
      { path: 'start.weights', title: 'Weights', choices: { load: 'From the folder', random: 'Random' } },
    ],
  },
  {
    id: 'rollout',
    title: 'Rollout',
    note: 'Episodes per iteration, and how responses are sampled',
    fields: [
      { path: 'rollout.groups', title: 'Prompts per iteration' },
      { path: 'rollout.group_size', title: 'Rollouts per prompt', unit: 'episodes' },
      { path: 'rollout.extra_rounds', title: 'Extra rounds' },
      { path: 'rollout.temperature', title: 'Temperature' },
      { path: 'rollout.top_p', title: 'Top-p' },
      { path: 'rollout.top_k', title: 'Top-k', unit: 'tokens' },
      { path: 'rollout.min_p', title: 'Min-p' },
      { path: 'rollout.max_response_tokens', title: 'Max response length', unit: 'tokens' },
      { path: 'rollout.context', title: 'Max context length', unit: 'tokens' },
      { path: 'rollout.context_turns', title: 'Turns in context', unit: 'turns' },
      { path: 'rollout.think', title: 'Think before acting' },
      { path: 'rollout.slots', title: 'Parallel episodes', unit: 'episodes' },
    ],
  },
  {
    id: 'levels',
    title: 'Levels',
    note: 'Levels for training and evaluation',
    fields: [
      { path: 'levels.train_seed', title: 'Training seed' },
      { path: 'levels.pool', title: 'Level pool size', unit: 'levels' },
      { path: 'levels.validation_seed', title: 'Evaluation seed' },
    ],
  },
  {
    id: 'filter',
    title: 'Rewards and filter',
    note: 'Weights of reward terms, and which groups are trained on',
    fields: [
      { path: 'reward.environment_weight', title: 'Environment reward weight' },
      { path: 'reward.format_penalty', title: 'Format penalty' },
      { path: 'reward.step_cost', title: 'Step cost' },
      { path: 'reward.success_bonus', title: 'Success bonus' },
      { path: 'reward.length_cost', title: 'Length cost' },
      { path: 'reward.length_buffer', title: 'Length buffer', unit: 'tokens' },
      { path: 'reward.grounding_weight', title: 'Grounding weight' },
      { path: 'reward.faithfulness_weight', title: 'Faithfulness weight' },
      {
        path: 'reward.normalization',
        title: 'Normalization',
        choices: { none: 'None', mean: 'Mean', mean_std: 'Mean and std', asymmetric_clip: 'Mean and std, clipped' },
      },
      {
        path: 'reward.normalize_by',
        title: 'Normalized together',
        choices: { group: 'Group', environment: 'Environment', batch: 'Batch' },
      },
      { path: 'reward.normalize_terms', title: 'Normalize terms separately' },
      { path: 'reward.program.command', title: 'Reward program' },
      { path: 'reward.program.directory', title: 'Program folder' },
      { path: 'reward.program.weight', title: 'Program weight' },
      { path: 'reward.program.processes', title: 'Program processes' },
      { path: 'reward.program.seconds', title: 'Program time limit', unit: 'seconds' },
      {
        path: 'filter.strategy',
        title: 'Group filter',
        choices: {
          none: 'None',
          fraction: 'Top fraction',
          top_k: 'Top-k',
          top_p: 'Top-p',
          min_p: 'Min-p',
          softmax: 'Softmax',
        },
      },
      { path: 'filter.keep', title: 'Fraction kept' },
      { path: 'filter.count', title: 'Groups kept', unit: 'groups' },
      {
        path: 'filter.score',
        title: 'Ranked by',
        choices: { reward_std: 'Reward std', entropy: 'Entropy', length: 'Response length' },
      },
      { path: 'filter.order', title: 'Rank first', choices: { largest: 'Largest', smallest: 'Smallest' } },
      { path: 'replay.iterations', title: 'Experience replay', unit: 'iterations' },
      { path: 'replay.share', title: 'Fraction replayed' },
    ],
  },
  {
    id: 'advantage',
    title: 'Advantages and critic',
    note: 'How much better an action is than expected',
    fields: [
      { path: 'advantage.estimator', title: 'Estimator', choices: estimatorTitles },
      { path: 'advantage.gamma', title: 'Discount γ' },
      { path: 'advantage.lambda', title: 'GAE λ' },
      { path: 'advantage.whiten', title: 'Whiten advantages' },
      { path: 'advantage.whiten_over', title: 'Whiten over', choices: { tokens: 'Tokens', episodes: 'Episodes' } },
      { path: 'advantage.rewards', title: 'Rewards count at', choices: { episode: 'Episode end', turn: 'Turn end' } },
      { path: 'advantage.turn_gamma', title: 'Discount per turn' },
      { path: 'advantage.scale_by_std', title: 'Divide by std' },
      { path: 'advantage.step_weight', title: 'Step weight' },
      { path: 'advantage.history', title: 'History', unit: 'states' },
      { path: 'advantage.history_exponent', title: 'History exponent α' },
      { path: 'advantage.episode_term', title: 'Compare episodes too' },
      { path: 'advantage.gate', title: 'Advantage gate' },
      {
        path: 'critic.model',
        title: 'Critic',
        choices: { none: 'None', full: 'Separate model', head: 'Value head' },
      },
      { path: 'critic.learning_rate', title: 'Critic learning rate' },
      { path: 'critic.value_clip', title: 'Value clip range' },
      { path: 'critic.gradient_clip', title: 'Critic gradient clip' },
      { path: 'critic.warmup', title: 'Critic warm-up', unit: 'iterations' },
    ],
  },
  {
    id: 'loss',
    title: 'Policy loss',
    note: 'The clipped objective, its further terms, and corrections of stale rollouts',
    fields: [
      {
        path: 'policy_loss.objective',
        title: 'Objective',
        choices: { clip: 'PPO clip', cispo: 'CISPO', sapo: 'SAPO', dppo: 'DPPO' },
      },
      {
        path: 'policy_loss.ratio_level',
        title: 'Ratio level',
        choices: { token: 'Token', turn: 'Turn', sequence: 'Sequence (GSPO)', trajectory: 'Trajectory' },
      },
      { path: 'policy_loss.clip_low', title: 'Lower clip range' },
      { path: 'policy_loss.clip_high', title: 'Upper clip range' },
      { path: 'policy_loss.clip_turn_factor', title: 'Clip range factor per turn' },
      { path: 'policy_loss.dual_clip', title: 'Dual clip' },
      { path: 'policy_loss.tau_positive', title: 'Gate τ, positive' },
      { path: 'policy_loss.tau_negative', title: 'Gate τ, negative' },
      { path: 'policy_loss.entropy_coefficient', title: 'Entropy coefficient' },
      {
        path: 'policy_loss.entropy_tokens',
        title: 'Entropy tokens',
        choices: { all: 'All tokens', reasoning: 'Reasoning' },
      },
      { path: 'policy_loss.log_ratio_penalty', title: 'Log-ratio penalty' },
      { path: 'policy_loss.likelihood_coefficient', title: 'Likelihood coefficient' },
      {
        path: 'policy_loss.likelihood_gate',
        title: 'Likelihood gate',
        choices: { response: 'Response', turn: 'Turn' },
      },
      { path: 'policy_loss.cross_entropy_coefficient', title: 'Cross-entropy coefficient' },
      {
        path: 'policy_loss.average',
        title: 'Loss aggregation',
        choices: {
          trajectory: 'Mean per episode',
          token: 'Mean over tokens',
          trajectory_sum: 'Sum per episode',
          fixed_length: 'Sum / max length',
        },
      },
      { path: 'policy_loss.mini_batch', title: 'Mini-batch', unit: 'episodes' },
      { path: 'policy_loss.epochs', title: 'Epochs' },
      {
        path: 'correction.weights',
        title: 'Importance weights',
        choices: { none: 'None', truncate: 'Truncated (TIS)', mask: 'Masked (MIS)' },
      },
      {
        path: 'correction.level',
        title: 'Weight level',
        choices: { token: 'Token', sequence: 'Sequence', sequence_mean: 'Sequence mean' },
      },
      { path: 'correction.low', title: 'Lowest weight' },
      { path: 'correction.high', title: 'Highest weight' },
      {
        path: 'correction.trust_region',
        title: 'Trust region',
        choices: {
          none: 'None',
          token: 'Token',
          sequence_max: 'Sequence, largest',
          sequence_mean: 'Sequence, mean',
          sequence_sum: 'Sequence, sum',
        },
      },
      { path: 'correction.divergence', title: 'Divergence' },
      { path: 'correction.bound', title: 'Trust region bound' },
    ],
  },
  {
    id: 'optimizer',
    title: 'Optimizer',
    note: 'AdamW',
    fields: [
      { path: 'optimizer.learning_rate', title: 'Learning rate' },
      { path: 'optimizer.warmup', title: 'Warm-up', unit: 'steps' },
      {
        path: 'optimizer.schedule',
        title: 'Schedule',
        choices: { constant: 'Constant', linear: 'Linear', cosine: 'Cosine' },
      },
      { path: 'optimizer.beta1', title: 'β₁' },
      { path: 'optimizer.beta2', title: 'β₂' },
      { path: 'optimizer.epsilon', title: 'ε' },
      { path: 'optimizer.weight_decay', title: 'Weight decay' },
      { path: 'optimizer.gradient_clip', title: 'Gradient clip' },
      { path: 'optimizer.micro_batch_tokens', title: 'Micro-batch', unit: 'tokens' },
      {
        path: 'optimizer.recompute',
        title: 'Activation recomputation',
        choices: { none: 'None', elementwise: 'Cheap ops', block: 'Whole blocks' },
      },
    ],
  },
  {
    id: 'kl',
    title: 'KL penalty',
    note: 'Keeps the policy close to a reference policy',
    fields: [
      { path: 'kl.coefficient', title: 'KL coefficient' },
      { path: 'kl.estimator', title: 'KL estimator' },
      { path: 'kl.placement', title: 'KL placement', choices: { reward: 'Reward', loss: 'Loss' } },
      { path: 'kl.reference', title: 'Reference model' },
    ],
  },
  {
    id: 'evaluation',
    title: 'Evaluation and files',
    note: 'Evaluation interval, checkpoints and disk use',
    fields: [
      { path: 'evaluation.every', title: 'Evaluate every', unit: 'iterations' },
      { path: 'evaluation.levels', title: 'Evaluation levels', unit: 'levels' },
      { path: 'evaluation.temperature', title: 'Evaluation temperature' },
      { path: 'checkpoint.every', title: 'Checkpoint every', unit: 'iterations' },
      { path: 'checkpoint.keep', title: 'Checkpoints with optimizer state' },
      { path: 'rollout_files.keep_last', title: 'Keep episodes of the last', unit: 'iterations' },
      { path: 'rollout_files.keep_every', title: 'Also keep every n-th', unit: 'iterations' },
      { path: 'storage.budget_gigabytes', title: 'Disk budget', unit: 'GB' },
    ],
  },
  {
    id: 'echo-trap',
    title: 'Echo Trap',
    note: 'Collapse monitoring, the automatic action and early stops',
    fields: [
      {
        path: 'automatic_action',
        title: 'On collapse warning',
        choices: { notify: 'Notify', pause: 'Pause', stop: 'Stop', rollback: 'Roll back' },
      },
      { path: 'diagnostics.every', title: 'Diagnostics every', unit: 'iterations' },
      { path: 'diagnostics.samples', title: 'Samples per diagnostic', unit: 'episodes' },
      { path: 'diagnostics.probe', title: 'Use fixed levels' },
      { path: 'early_stop.reward_std', title: 'Stop at low reward std' },
      { path: 'early_stop.failed_evaluations', title: 'Stop without success', unit: 'evaluations' },
      { path: 'early_stop.empty_filters', title: 'Stop at empty filters', unit: 'iterations' },
    ],
  },
];

/** Settings that the form does not show, because the app manages them. */
export const hiddenPaths: readonly string[] = [
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
  'environments[].files_sha256',
  'warm_start.steps_per_iteration',
  'warm_start.batch',
  'warm_start.plain',
  'warm_start.positions',
  'warm_start.careful',
  'warm_start.mistakes',
];

/** Settings shown at the top of the form. */
export const firstPaths: readonly string[] = [
  'iterations',
  'seed',
  'start.model',
  'optimizer.learning_rate',
  'rollout.groups',
  'automatic_action',
];

const meanings: Readonly<Record<string, string>> = options.meanings;

/** Returns the help text of a setting without Markdown links, references to documents and code marks; empty for an unknown path. */
export const settingHelp = (path: string): string =>
  (meanings[path] ?? '')
    .replace(/ See \[[^\]]*\]\([^)]*\)\./g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '');
