import { join } from 'node:path';
import type { Setting } from '../../core/run-config/settings.ts';
import { root } from './trainer-process.ts';

/** Each option of run.json, and the output in which two runs differ that differ only in this option. */

export interface Effect {
  /** A metric, or an output of run-outputs.ts. */
  output: string;
  /** Default `lake`. */
  base?: keyof typeof bases;
  /** Settings of both runs. */
  with?: Record<string, Setting>;
  /**
   * Value of the second run. By default all other choices, the other boolean, half of a number (0.5 for 0), or the next integer.
   */
  value?: Setting;
  /** Choices that are not compared, since both runs can't have them. */
  except?: readonly string[];
  /** Choices with the output of another choice in such runs. */
  alike?: Record<string, string>;
  /** Settings that further choices need. */
  needs?: Record<string, Record<string, Setting>>;
}

interface Base {
  preset: string;
  set: Record<string, Setting>;
  /** Index of the preset's environment that is played alone. Default: all of them. */
  environment?: number;
}

const small = {
  ...{ iterations: 1, threads: 1, 'evaluation.every': 0, 'evaluation.levels': 2, 'diagnostics.every': 0 },
  ...{ 'rollout.groups': 6, 'rollout.group_size': 4, 'policy_loss.mini_batch': 8, 'environments.0.max_turns': 3 },
};
const slippery = { 'environments.0.config.is_slippery': true };

/** Short turns of large groups, so that episodes share their past. */
const repeated = { 'rollout.groups': 3, 'rollout.group_size': 8, 'environments.0.max_actions_per_turn': 1 };

/** Presets and settings of the runs, all with the tiny policy. */
export const bases = {
  lake: { preset: 'starter-frozen-lake-grpo', set: small },
  filtered: { preset: 'starter-frozen-lake-grpo-s', set: small },
  critic: { preset: 'starter-frozen-lake-ppo', set: small },
  turnCritic: { preset: 'starter-frozen-lake-bi-level-gae', set: { ...small, 'filter.strategy': 'none' } },
  gigpo: { preset: 'starter-frozen-lake-gigpo', set: { ...small, 'filter.strategy': 'none' } },
  hgpo: { preset: 'starter-frozen-lake-hgpo', set: { ...small, ...repeated, 'filter.strategy': 'none' } },
  mixed: { preset: 'starter-mixed-grpo', set: small },
  bandit: { preset: 'starter-bandit-grpo', set: small },
  sokoban: { preset: 'starter-sokoban-grpo', set: small },
  webshop: {
    preset: 'qwen2.5-3b-webshop-grpo',
    set: {
      ...{ ...small, device: 'cpu', precision: 'fp32', 'rollout.groups': 2, 'rollout.context': 1024 },
      'rollout.max_response_tokens': 24,
      // The smallest one with enough goals for its split.
      'environments.0.config.catalogue': 'synthetic:720:1',
    },
  },
  warmStart: {
    preset: 'starter-warm-start',
    environment: 0,
    set: { ...small, 'warm_start.steps_per_iteration': 2, 'warm_start.batch': 4 },
  },
} as const satisfies Record<string, Base>;

/** Large steps on the same episodes, so that ratios leave the clip range. */
const offPolicy = { 'optimizer.learning_rate': 0.01, 'policy_loss.epochs': 2 };
const critics = { 'critic.model': 'full' };

/** The placeholder for the folder of the tiny policy before its training. */
export const untrained = 'untrained';

const starter = join(root, 'resources/starter');

export const effects: Record<string, Effect> = {
  seed: { output: 'responses' },
  iterations: { output: 'files' },
  task: { output: 'warm_start/loss' },
  threads: { output: 'started' },
  'start.model': { output: 'responses', value: starter },
  'start.weights': { output: 'responses' },
  'start.sha256': { output: 'error', value: '0'.repeat(64) },
  'environments[].label': { output: 'files', value: 'other' },
  'environments[].share': { output: 'prompts', base: 'mixed', value: 0.1 },
  'environments[].validate': { output: 'files', base: 'mixed' },
  'environments[].noise': { output: 'boards', with: slippery },
  'environments[].max_state_tokens': { output: 'prompts', value: 5 },
  'environments[].max_turns': { output: 'rollout/turns' },
  'environments[].max_actions_per_turn': { output: 'rollout/actions', value: 1 },
  'environments[].max_actions': { output: 'rollout/actions', value: 1 },
  'environments[].prompt.system': { output: 'prompts', value: 'Answer.' },
  'environments[].prompt.first': { output: 'prompts', value: '{turn}: {state}' },
  'environments[].prompt.next': { output: 'contexts', value: '{turn}: {state}' },
  'rollout.groups': { output: 'levels' },
  'rollout.group_size': { output: 'levels', value: 2 },
  'rollout.extra_rounds': { output: 'rollout/rounds' },
  'rollout.slots': { output: 'memory plan', value: 2 },
  'rollout.temperature': { output: 'responses' },
  'rollout.top_p': { output: 'error' },
  'rollout.top_k': { output: 'error' },
  'rollout.min_p': { output: 'error' },
  'rollout.max_response_tokens': { output: 'rollout/response_tokens', value: 8 },
  'rollout.context': { output: 'rollout/turns', value: 160 },
  'rollout.context_turns': { output: 'contexts' },
  'rollout.think': { output: 'prompts' },
  'levels.train_seed': { output: 'levels' },
  'levels.validation_seed': { output: 'evaluated levels' },
  'levels.pool': { output: 'levels', value: 1 },
  'reward.environment_weight': { output: 'rollout/reward_mean' },
  'reward.format_penalty': { output: 'rollout/reward_mean' },
  'reward.step_cost': { output: 'rollout/reward_mean' },
  'reward.success_bonus': { output: 'rollout/reward_mean' },
  'reward.length_cost': { output: 'rollout/reward_mean' },
  'reward.length_buffer': { output: 'rollout/reward_mean', with: { 'reward.length_cost': 1 }, value: 80 },
  'reward.grounding_weight': { output: 'rollout/reward_mean' },
  'reward.faithfulness_weight': { output: 'rollout/reward_mean' },
  'reward.normalization': { output: 'advantages', base: 'critic', with: { 'advantage.whiten': false } },
  'reward.normalize_by': {
    output: 'advantages',
    base: 'mixed',
    with: { ...offPolicy, 'advantage.estimator': 'reinforce_plus_plus', 'reward.normalization': 'mean' },
  },
  'reward.normalize_terms': {
    output: 'advantages',
    base: 'critic',
    with: { 'advantage.whiten': false, 'reward.normalization': 'mean_std' },
  },
  'filter.strategy': {
    output: 'kept',
    base: 'filtered',
    with: { 'filter.keep': 0.8, 'filter.count': 2, 'filter.score': 'length', 'rollout.groups': 8 },
  },
  'filter.keep': { output: 'filter/kept_groups', base: 'filtered' },
  'filter.count': { output: 'filter/kept_groups', base: 'filtered', with: { 'filter.strategy': 'top_k' } },
  'filter.score': { output: 'kept', base: 'filtered' },
  'filter.order': { output: 'kept', base: 'filtered' },
  'replay.iterations': { output: 'replay/share', with: { iterations: 2, 'replay.share': 0.5 } },
  'replay.share': { output: 'replay/share', with: { iterations: 2, 'replay.iterations': 1 } },
  'advantage.estimator': {
    output: 'advantages',
    with: { 'advantage.gamma': 0.9, 'advantage.lambda': 0.5 },
    // They differ in groups of one episode.
    alike: { loop: 'rloo' },
    needs: { gae: critics, bi_level_gae: critics, trajectory_baseline: critics, turn_baseline: critics },
  },
  'advantage.gamma': { output: 'advantages', base: 'critic' },
  'advantage.lambda': { output: 'advantages', base: 'critic' },
  'advantage.whiten': { output: 'advantages' },
  'advantage.whiten_over': { output: 'advantages', with: { 'advantage.whiten': true } },
  'advantage.rewards': { output: 'advantages', base: 'turnCritic' },
  'advantage.turn_gamma': { output: 'advantages', base: 'turnCritic' },
  'advantage.scale_by_std': { output: 'advantages', base: 'gigpo' },
  'advantage.step_weight': { output: 'advantages', base: 'gigpo' },
  'advantage.history': { output: 'advantages', base: 'hgpo', value: 0 },
  'advantage.history_exponent': { output: 'advantages', base: 'hgpo' },
  'advantage.episode_term': { output: 'advantages', base: 'hgpo' },
  'advantage.gate': { output: 'filter/gated_groups' },
  'policy_loss.objective': { output: 'weights', with: offPolicy },
  'policy_loss.ratio_level': { output: 'weights', with: offPolicy },
  'policy_loss.clip_low': { output: 'weights', with: offPolicy },
  'policy_loss.clip_high': { output: 'weights', with: offPolicy },
  'policy_loss.clip_turn_factor': { output: 'weights', with: offPolicy },
  'policy_loss.dual_clip': { output: 'weights', with: offPolicy, value: 1 },
  'policy_loss.tau_positive': { output: 'weights', with: { ...offPolicy, 'policy_loss.objective': 'sapo' } },
  'policy_loss.tau_negative': { output: 'weights', with: { ...offPolicy, 'policy_loss.objective': 'sapo' } },
  'policy_loss.entropy_coefficient': { output: 'actor/loss_entropy' },
  'policy_loss.entropy_tokens': { output: 'actor/loss_entropy' },
  'policy_loss.log_ratio_penalty': { output: 'actor/loss_log_ratio', with: offPolicy },
  'policy_loss.likelihood_coefficient': { output: 'actor/loss_likelihood', with: offPolicy },
  'policy_loss.likelihood_gate': {
    output: 'actor/loss_likelihood',
    with: { ...offPolicy, 'policy_loss.likelihood_coefficient': 1 },
  },
  'policy_loss.cross_entropy_coefficient': { output: 'actor/loss_cross_entropy' },
  'policy_loss.average': { output: 'weights' },
  'policy_loss.mini_batch': { output: 'weights', value: 24 },
  'policy_loss.epochs': { output: 'weights' },
  // On a CPU all ratios are 1, so choices differ only from `none`. Their formulas are compared in compute.test.ts.
  'correction.weights': { output: 'correction/effective_sample_size', alike: { mask: 'truncate' } },
  'correction.trust_region': {
    output: 'correction/effective_sample_size',
    alike: { sequence_max: 'token', sequence_mean: 'token', sequence_sum: 'token' },
  },
  'optimizer.learning_rate': { output: 'actor/learning_rate' },
  'optimizer.warmup': { output: 'weights' },
  'optimizer.schedule': { output: 'actor/learning_rate', with: { iterations: 3 } },
  'optimizer.beta1': { output: 'weights' },
  'optimizer.beta2': { output: 'weights' },
  'optimizer.epsilon': { output: 'weights' },
  'optimizer.weight_decay': { output: 'weights' },
  'optimizer.gradient_clip': { output: 'weights', value: 0.01 },
  'optimizer.micro_batch_tokens': { output: 'memory plan', value: 256 },
  'critic.model': { output: 'trainer state', base: 'critic', except: ['none'] },
  'critic.learning_rate': { output: 'trainer state', base: 'critic' },
  'critic.value_clip': { output: 'trainer state', base: 'critic', value: 0.001 },
  'critic.gradient_clip': { output: 'trainer state', base: 'critic', value: 0.001 },
  'critic.warmup': { output: 'weights', base: 'critic', with: { iterations: 2 } },
  'kl.coefficient': { output: 'actor/loss_kl', with: { 'kl.placement': 'loss' } },
  'kl.estimator': { output: 'actor/loss_kl', with: { ...offPolicy, 'kl.placement': 'loss', 'kl.coefficient': 1 } },
  'kl.placement': { output: 'actor/loss_kl', base: 'critic' },
  'kl.reference': { output: 'actor/kl_to_reference', with: { 'kl.coefficient': 1 }, value: untrained },
  'evaluation.every': { output: 'files', with: { iterations: 3 } },
  'evaluation.levels': { output: 'evaluated levels' },
  'evaluation.temperature': { output: 'evaluated responses' },
  'checkpoint.every': { output: 'files', with: { iterations: 3, 'checkpoint.every': 2 } },
  'checkpoint.keep': { output: 'files', with: { iterations: 3, 'checkpoint.every': 1 } },
  'rollout_files.keep_last': { output: 'files', with: { iterations: 3 } },
  'rollout_files.keep_every': { output: 'files', with: { iterations: 3, 'rollout_files.keep_last': 1 }, value: 1 },
  'storage.budget_gigabytes': { output: 'log', value: 0.0001 },
  'warm_start.steps_per_iteration': { output: 'weights', base: 'warmStart' },
  'warm_start.batch': { output: 'weights', base: 'warmStart' },
  'warm_start.plain': { output: 'weights', base: 'warmStart' },
  'warm_start.positions': { output: 'weights', base: 'warmStart' },
  'warm_start.careful': { output: 'weights', base: 'warmStart' },
  'warm_start.mistakes': { output: 'weights', base: 'warmStart' },
  'early_stop.failed_evaluations': {
    output: 'files',
    with: { iterations: 2, 'evaluation.every': 1, 'rollout.max_response_tokens': 1 },
    value: 1,
  },
  'early_stop.empty_filters': {
    output: 'files',
    base: 'filtered',
    with: { iterations: 2, 'filter.strategy': 'top_p', 'rollout.max_response_tokens': 1 },
    value: 1,
  },
  'diagnostics.every': { output: 'diagnostics/mutual_information' },
  'diagnostics.samples': {
    output: 'diagnostics/mutual_information',
    with: { 'diagnostics.every': 1, 'rollout.groups': 2, 'rollout.group_size': 8 },
    value: 2,
  },
  'diagnostics.probe': { output: 'diagnostics/mutual_information', with: { 'diagnostics.every': 1 } },
  'frozen-lake.size': { output: 'prompts' },
  'frozen-lake.p': { output: 'prompts' },
  'frozen-lake.is_slippery': { output: 'boards' },
  'frozen-lake.success_rate': { output: 'boards', with: slippery },
  'frozen-lake.observation_format': { output: 'prompts' },
  'bandit.lo_arm_name': { output: 'prompts', base: 'bandit', value: 'Otter' },
  'bandit.hi_arm_name': { output: 'prompts', base: 'bandit', value: 'Otter' },
  'bandit.lo_arm_score': { output: 'boards', base: 'bandit' },
  'bandit.hi_arm_loscore': { output: 'boards', base: 'bandit' },
  'bandit.hi_arm_hiscore': {
    output: 'boards',
    base: 'bandit',
    with: { 'environments.0.config.hi_arm_hiscore_prob': 1 },
  },
  'bandit.hi_arm_hiscore_prob': { output: 'boards', base: 'bandit', value: 1 },
  'sokoban.dim_x': { output: 'prompts', base: 'sokoban' },
  'sokoban.dim_y': { output: 'prompts', base: 'sokoban' },
  'sokoban.num_boxes': { output: 'prompts', base: 'sokoban' },
  'sokoban.max_steps': { output: 'boards', base: 'sokoban', value: 1 },
  'sokoban.search_depth': { output: 'prompts', base: 'sokoban', value: 3 },
  'sokoban.grid_lookup.0': { output: 'prompts', base: 'sokoban', value: 'A' },
  'sokoban.grid_lookup.1': { output: 'prompts', base: 'sokoban', value: 'A' },
  'sokoban.grid_lookup.2': { output: 'prompts', base: 'sokoban', value: 'A' },
  'sokoban.grid_lookup.4': { output: 'prompts', base: 'sokoban', value: 'A' },
  'sokoban.grid_lookup.5': { output: 'prompts', base: 'sokoban', value: 'A' },
  'webshop.catalogue': { output: 'prompts', base: 'webshop', value: 'synthetic:720:2' },
  'webshop.observation_mode': { output: 'prompts', base: 'webshop', with: { 'environments.0.config.wrapper': 'none' } },
  'webshop.human_goals': {
    output: 'prompts',
    base: 'webshop',
    with: {
      ...{ 'environments.0.config.wrapper': 'none', 'environments.0.config.split': 'train' },
      ...{ 'levels.train_seed': 0, 'levels.validation_seed': 0 },
    },
  },
  'webshop.price_seed': { output: 'prompts', base: 'webshop' },
  'webshop.wrapper': { output: 'prompts', base: 'webshop', except: ['ragen_v1', 'ragen_v2'] },
  'webshop.split': { output: 'prompts', base: 'webshop', alike: { train: 'auto' } },
};

/** Options of corrections, whose ratios are 1 on a CPU: their effect in `starpo-trainer compute`. */
export const correctionEffects: Record<string, { with: Record<string, Setting>; value: Setting }> = {
  'correction.level': { with: { weights: 'truncate' }, value: 'sequence' },
  'correction.low': { with: { weights: 'truncate' }, value: 0.9 },
  'correction.high': { with: { weights: 'truncate' }, value: 1.1 },
  'correction.divergence': { with: { trust_region: 'token', bound: 0.115 }, value: 'k2' },
  'correction.bound': { with: { trust_region: 'token', bound: 0.3 }, value: 0.01 },
};

/** Options that such runs can't show to have an effect, and why. */
export const exceptions: Record<string, string> = {
  version: 'has one value',
  preset: 'names the origin of the configuration',
  device: 'needs a GPU; cuda_engine_test.cpp compares both',
  precision: 'needs a GPU or a CPU with bf16 matrix products',
  exactness: 'acts on a GPU only',
  'optimizer.recompute': 'acts on a GPU only',
  'start.run': 'names the origin of the weights',
  'start.checkpoint': 'needs a parent run; fork.test.ts',
  'start.keep_optimizer': 'needs a parent run; fork.test.ts',
  'parent.run': 'names the parent run',
  'parent.iteration': 'names the checkpoint of the parent run',
  environments: 'its keys are options',
  'environments[].type': 'has the bases above',
  'environments[].config': 'its keys are options',
  'environments[].files_sha256': 'refuses other files; env_webshop_run_test.cpp',
  'early_stop.reward_std': 'needs 21 iterations; train_early_stop_test.cpp',
  automatic_action: 'acts in the app; alert-actions.test.ts',
  'sokoban.grid_lookup.3': 'is seen once a box is on a target; env_sokoban_test.cpp',
  'sokoban.grid_lookup.6': 'is seen once the player is on a target; env_sokoban_test.cpp',
  'webshop.show_attrs': 'adds a page of products; env_webshop_shop_test.cpp',
  'reward.program.command': 'needs a program; environment-programs.test.ts',
  'reward.program.directory': 'needs a program; environment-programs.test.ts',
  'reward.program.weight': 'needs a program; environment-programs.test.ts',
  'reward.program.processes': 'needs a program; env_process_test.cpp',
  'reward.program.seconds': 'needs a program; env_process_test.cpp',
  'process.command': 'needs a program; environment-programs.test.ts',
  'process.directory': 'needs a program; environment-programs.test.ts',
  'process.processes': 'needs a program; env_process_test.cpp',
  'process.episodes_per_process': 'needs a program; env_process_test.cpp',
  'process.start_seconds': 'needs a program; env_process_test.cpp',
  'process.answer_seconds': 'needs a program; env_process_test.cpp',
};
