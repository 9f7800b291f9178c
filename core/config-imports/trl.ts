import { Failure } from '../contract/failure.ts';
import { count } from '../contract/numbers.ts';
import type { Draft } from './draft.ts';
import { importTruncation, unsupported } from './verl.ts';

/** The completions that an iteration of TRL trains on, in all epochs, and those of each of its optimizer steps. */
interface Batch {
  trained: number;
  perStep: number;
}

/** Imports TRL's GRPOConfig from YAML or JSON. TRL's prompts and rewards are the user's data and code, so the environments are those of a preset. */
export function importTrl(draft: Draft): void {
  const { config } = draft;
  draft.changed(
    `TRL's data set and reward functions have no counterpart. The environments are those of the preset ${config.preset}; choose another one with the override preset=NAME.`,
  );
  const batch = importBatch(draft);
  importAdvantage(draft);
  importLoss(draft);
  importCorrection(draft);
  importKl(draft);
  importOptimizer(draft);
  draft.number('rollout.temperature', 'temperature');
  importTruncation(draft, { top_p: 'top_p', top_k: 'top_k', min_p: 'min_p' });
  draft.integer('rollout.max_response_tokens', 'max_completion_length');
  draft.integer('seed', 'seed');
  importSchedule(draft, batch);
}

/**
 * Sets the groups, the mini-batch and the epochs. TRL counts completions per device. An iteration generates all completions on which TRL trains until
 * it generates again.
 */
function importBatch(draft: Draft): Batch {
  const { from, config } = draft;
  const size = from.integer('num_generations', 2) ?? 8;
  draft.set('rollout.group_size', size, 'num_generations');
  const perDevice = from.integer('per_device_train_batch_size', 1) ?? 8;
  const accumulated = from.integer('gradient_accumulation_steps', 1) ?? 1;
  const perStep = perDevice * accumulated;
  const generated =
    from.integer('generation_batch_size', 1) ?? perDevice * (from.integer('steps_per_generation', 1) ?? accumulated);
  const groups = generated / size;
  if (!Number.isInteger(groups) || groups < 1)
    throw new Failure(
      'config_invalid',
      `${generated} completions per generation are not a multiple of num_generations = ${size}.`,
      `Override generation_batch_size, for example +generation_batch_size=${Math.max(1, Math.round(groups)) * size}. The import assumes one device.`,
    );
  draft.set(
    'rollout.groups',
    groups,
    ['generation_batch_size', 'steps_per_generation'].find((key) => from.has(key)) ?? 'per_device_train_batch_size',
    `One device generates ${generated} completions in ${count(groups, 'group')}.`,
  );
  const whole = Math.min(generated, Math.max(1, Math.ceil(perStep / size)) * size);
  draft.set(
    'policy_loss.mini_batch',
    whole,
    'gradient_accumulation_steps',
    whole === perStep
      ? `One optimizer step has ${perStep} completions.`
      : 'It must be a multiple of rollout.group_size.',
  );
  const epochs = from.integer('num_iterations', 1) ?? 1;
  draft.set('policy_loss.epochs', epochs, 'num_iterations');
  config.rollout.slots = Math.min(config.rollout.slots, generated);
  return { trained: generated * epochs, perStep };
}

/** Sets the number of iterations and the intervals of evaluations and checkpoints. TRL counts optimizer steps. */
function importSchedule(draft: Draft, { trained, perStep }: Batch): void {
  const { from } = draft;
  const why = `TRL counts optimizer steps; an iteration has ${Number((trained / perStep).toFixed(2))}.`;
  const count = (target: string, source: string) => {
    const steps = from.integer(source, 0);
    if (steps === undefined) return;
    draft.set(target, Math.ceil((steps * perStep) / trained), source, trained === perStep ? '' : why);
  };
  if (!from.has('max_steps') || from.integer('max_steps') === -1)
    throw new Failure(
      'config_invalid',
      'max_steps is not set.',
      `Override it, for example ${from.has('max_steps') ? '' : '+'}max_steps=200. Levels are unlimited, so epochs have no length.`,
    );
  count('iterations', 'max_steps');
  for (const [target, strategy, steps] of [
    ['evaluation.every', 'eval_strategy', 'eval_steps'],
    ['checkpoint.every', 'save_strategy', 'save_steps'],
  ] as const) {
    const own = from.text(strategy) ?? 'steps';
    if (own !== 'steps' && own !== 'no') throw unsupported(strategy, own, ['steps', 'no']);
    if (own === 'no') draft.set(target, 0, strategy, 'A run always evaluates and saves at its start and its end.');
    else count(target, steps);
  }
  draft.integer('checkpoint.keep', 'save_total_limit');
}

/** Estimators by `scale_rewards`. */
const estimators: Record<string, string> = {
  ...{ group: 'grpo', true: 'grpo', none: 'dr_grpo', false: 'dr_grpo' },
  ...{ batch: 'dr_grpo', mean: 'maxrl' },
};

function importAdvantage(draft: Draft): void {
  const { from, config } = draft;
  const scale = String(from.value('scale_rewards') ?? 'group').toLowerCase();
  const estimator = estimators[scale];
  if (estimator === undefined) throw unsupported('scale_rewards', scale, ['group', 'batch', 'none', 'mean']);
  draft.set('advantage.estimator', estimator, 'scale_rewards');
  if (scale === 'batch') {
    draft.set('reward.normalization', 'mean_std', 'scale_rewards');
    config.reward.normalize_by = 'batch';
  }
  config.advantage.whiten = false;
  config.critic.model = 'none';
  config.filter = { ...config.filter, strategy: 'none', keep: 1 };
  importAggregation(draft);
}

/** Imports GDPO, which normalizes each reward in its group, then the sum over the batch. */
function importAggregation(draft: Draft): void {
  const source = 'multi_objective_aggregation';
  const aggregation = draft.from.text(source) ?? 'sum_then_normalize';
  if (aggregation === 'sum_then_normalize') return;
  if (aggregation !== 'normalize_then_sum')
    throw unsupported(source, aggregation, ['sum_then_normalize', 'normalize_then_sum']);
  draft.set(
    'reward.normalize_terms',
    true,
    source,
    'It normalizes the terms under `reward`, with their weights, instead of the reward functions of TRL.',
  );
  Object.assign(draft.config.reward, { normalization: 'mean_std', normalize_by: 'group' });
  Object.assign(draft.config.advantage, { estimator: 'dr_grpo', whiten: true, whiten_over: 'episodes' });
}

const averages: Record<string, [string, string]> = {
  grpo: ['trajectory', ''],
  bnpo: ['token', 'TRL averages over the local batch; here it is the mini-batch.'],
  dapo: ['token', ''],
  dr_grpo: ['fixed_length', 'TRL divides by max_completion_length; here it is the maximum length of an episode.'],
  cispo: ['token', ''],
  sapo: ['trajectory', ''],
};

function importLoss(draft: Draft): void {
  const { from } = draft;
  const loss = from.text('loss_type') ?? 'dapo';
  const average = averages[loss];
  if (average === undefined) throw unsupported('loss_type', loss, Object.keys(averages));
  draft.set('policy_loss.average', average[0], 'loss_type', average[1]);
  const objective = loss === 'cispo' || loss === 'sapo' ? loss : 'clip';
  draft.set('policy_loss.objective', objective, 'loss_type');
  const levels = objective === 'clip' ? ['token', 'sequence'] : ['token'];
  const level = from.text('importance_sampling_level') ?? 'token';
  if (!levels.includes(level)) throw unsupported('importance_sampling_level', level, levels);
  draft.set('policy_loss.ratio_level', level, 'importance_sampling_level');
  Object.assign(draft.config.policy_loss, { dual_clip: 0, entropy_coefficient: 0, clip_turn_factor: 1 });
  if (objective === 'sapo') {
    draft.number('policy_loss.tau_positive', 'sapo_temperature_pos');
    draft.number('policy_loss.tau_negative', 'sapo_temperature_neg');
    // TRL ignores them with this loss.
    for (const unused of ['epsilon', 'epsilon_high', 'delta']) from.skip(unused);
    return;
  }
  if (objective === 'cispo') {
    const largest = from.number('epsilon_high') ?? from.number('epsilon') ?? 0.2;
    if (largest < 1) throw cutsAllRatios(draft, largest);
    draft.set(
      'policy_loss.clip_high',
      largest - 1,
      'epsilon_high',
      'In TRL, epsilon_high bounds the ratio itself; here the bound is 1 + policy_loss.clip_high.',
    );
    draft.config.policy_loss.clip_low = 1;
    // TRL ignores them with this loss.
    for (const unused of ['epsilon', 'delta']) from.skip(unused);
    return;
  }
  const low = from.number('epsilon') ?? 0.2;
  draft.set('policy_loss.clip_low', low, 'epsilon');
  draft.set(
    'policy_loss.clip_high',
    from.number('epsilon_high') ?? low,
    from.has('epsilon_high') ? 'epsilon_high' : 'epsilon',
  );
  importDelta(draft);
}

function cutsAllRatios({ from }: Draft, largest: number): Failure {
  const isSet = from.has('epsilon_high');
  return new Failure(
    'config_unsupported',
    `${isSet ? 'epsilon_high is' : 'epsilon_high is not set and defaults to'} ${largest}. With loss_type = cispo, TRL clips ratios to at most this value, so even the ratios of an unchanged policy are clipped from 1 to ${largest}. Values below 1 are not supported.`,
    `Override it with 1 or more, for example ${isSet ? '' : '+'}epsilon_high=5, or choose another loss_type.`,
  );
}

/** Imports the two-sided clip, which is a dual clip as long as it does not tighten the upper clip. */
function importDelta(draft: Draft): void {
  const delta = draft.from.number('delta', 1 + draft.config.policy_loss.clip_high);
  if (delta !== undefined) draft.set('policy_loss.dual_clip', delta, 'delta');
}

const corrections: Record<string, [string, string]> = {
  token_truncate: ['truncate', 'token'],
  token_mask: ['mask', 'token'],
  sequence_truncate: ['truncate', 'sequence'],
  sequence_mask: ['mask', 'sequence'],
};

/** Imports the correction of vLLM's log-probabilities. It is off by default, since rollout and update agree here. */
function importCorrection(draft: Draft): void {
  const { from } = draft;
  const own = (name: string) => `vllm_importance_sampling_${name}`;
  const mode = from.text(own('mode')) ?? (from.flag(own('correction')) ? 'sequence_mask' : undefined);
  if (mode === undefined || from.flag(own('correction')) === false) {
    for (const name of ['mode', 'cap', 'correction']) from.skip(own(name));
    return;
  }
  const correction = corrections[mode];
  if (correction === undefined) throw unsupported(own('mode'), mode, Object.keys(corrections));
  draft.set('correction.weights', correction[0], own('mode'));
  draft.set('correction.level', correction[1], own('mode'));
  draft.set('correction.high', from.number(own('cap')) ?? 3, own('cap'));
}

function importKl(draft: Draft): void {
  const weight = draft.from.number('beta') ?? 0;
  draft.set('kl.coefficient', weight, 'beta');
  Object.assign(draft.config.kl, { estimator: 'k3', placement: 'loss' });
  if (weight > 0) draft.note('mapped', "TRL's KL penalty is k3 in the loss: kl.estimator = k3, kl.placement = loss.");
  if (draft.from.flag('sync_ref_model')) draft.missing('sync_ref_model');
}

function importOptimizer(draft: Draft): void {
  const { from } = draft;
  draft.set('optimizer.learning_rate', from.number('learning_rate') ?? 1e-6, 'learning_rate');
  const schedule = from.text('lr_scheduler_type') ?? 'linear';
  const own = { constant: 'constant', constant_with_warmup: 'constant', linear: 'linear', cosine: 'cosine' }[schedule];
  if (own === undefined) throw unsupported('lr_scheduler_type', schedule, ['constant', 'linear', 'cosine']);
  draft.set('optimizer.schedule', own, 'lr_scheduler_type');
  for (const [target, source] of [
    ['beta1', 'adam_beta1'],
    ['beta2', 'adam_beta2'],
    ['epsilon', 'adam_epsilon'],
    ['gradient_clip', 'max_grad_norm'],
  ] as const)
    draft.number(`optimizer.${target}`, source);
  draft.set('optimizer.weight_decay', from.number('weight_decay') ?? 0, 'weight_decay');
  const warmup = from.integer('warmup_steps', 0) ?? 0;
  const ratio = from.number('warmup_ratio', 0, 1) ?? 0;
  if (warmup > 0 || ratio === 0) draft.set('optimizer.warmup', warmup, 'warmup_steps');
  else draft.set('optimizer.warmup', Math.ceil(ratio * (from.integer('max_steps') ?? 0)), 'warmup_ratio');
}
