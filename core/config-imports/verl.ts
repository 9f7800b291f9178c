import { Failure } from '../contract/failure.ts';
import { count } from '../contract/numbers.ts';
import { listWithOr } from '../contract/sentence.ts';
import type { Draft } from './draft.ts';

/** Settings of verl that RAGEN and verl-agent share: loss, KL, optimizer, critic, sampling and schedule. */

const actor = 'actor_rollout_ref.actor';
const rollout = 'actor_rollout_ref.rollout';

export function importTraining(draft: Draft): void {
  importLoss(draft);
  importKl(draft);
  importOptimizer(draft);
  importCritic(draft);
  importSampling(draft);
  importSchedule(draft);
}

const averages: Record<string, string> = {
  'token-mean': 'token',
  'seq-mean-token-mean': 'trajectory',
  'seq-mean-token-sum': 'trajectory_sum',
  'seq-mean-token-sum-norm': 'fixed_length',
};

function importLoss(draft: Draft): void {
  const { from } = draft;
  draft.number('policy_loss.entropy_coefficient', `${actor}.entropy_coeff`);
  for (const side of ['low', 'high'] as const) {
    const own = `${actor}.clip_ratio_${side}`;
    draft.number(`policy_loss.clip_${side}`, from.has(own) ? own : `${actor}.clip_ratio`);
  }
  from.skip(`${actor}.clip_ratio`);
  const dual = from.number(`${actor}.clip_ratio_c`, 1);
  if (dual !== undefined) draft.set('policy_loss.dual_clip', dual, `${actor}.clip_ratio_c`);
  importLossMode(draft);
  const mode = from.text(`${actor}.loss_agg_mode`);
  const micro = ['ppo_micro_batch_size_per_gpu', 'micro_batch_size_per_gpu']
    .map((key) => from.integer(`${actor}.${key}`))
    .find((each) => each !== undefined);
  if (mode !== undefined) {
    const average = averages[mode];
    if (average === undefined) throw unsupported(`${actor}.loss_agg_mode`, mode, Object.keys(averages));
    if (average === 'token' && micro === 1)
      draft.set(
        'policy_loss.average',
        'trajectory',
        `${actor}.loss_agg_mode`,
        'verl averages within micro-batches; with one episode in each, that is the mean per episode.',
      );
    else if (average === 'token')
      draft.set(
        'policy_loss.average',
        'token',
        `${actor}.loss_agg_mode`,
        'verl averages within micro-batches; here it is the mean over the mini-batch.',
      );
    else draft.set('policy_loss.average', average, `${actor}.loss_agg_mode`);
  }
  importMiniBatch(draft);
  draft.integer('policy_loss.epochs', `${actor}.ppo_epochs`);
  if (from.flag(`${actor}.shuffle`)) draft.missing(`${actor}.shuffle`);
}

/** Imports the loss of newer versions of verl. */
function importLossMode(draft: Draft): void {
  const source = `${actor}.policy_loss.loss_mode`;
  const mode = draft.from.text(source);
  if (mode === undefined || mode === 'vanilla') return;
  if (mode !== 'gspo') throw unsupported(source, mode, ['vanilla', 'gspo']);
  draft.set('policy_loss.ratio_level', 'sequence', source);
  draft.config.policy_loss.dual_clip = 0;
}

function importMiniBatch(draft: Draft): void {
  const source = `${actor}.ppo_mini_batch_size`;
  const { groups, group_size } = draft.config.rollout;
  const size = draft.from.integer(source, 1);
  if (size === undefined) return;
  const most = groups * group_size;
  const whole = Math.min(most, Math.max(1, Math.ceil(size / group_size)) * group_size);
  if (whole === size) draft.set('policy_loss.mini_batch', size, source);
  else
    draft.set(
      'policy_loss.mini_batch',
      whole,
      source,
      'It must be a multiple of rollout.group_size, up to all episodes.',
    );
}

/** Sets the estimator, and the critic that it needs. */
export function setEstimator(draft: Draft, estimator: string, source: string, why = ''): void {
  draft.set('advantage.estimator', estimator, source, why);
  const { config, from } = draft;
  const critic = estimator === 'gae' || estimator === 'bi_level_gae';
  config.advantage.whiten = critic || estimator === 'reinforce_plus_plus';
  config.critic.model = critic ? 'full' : 'none';
  if (estimator === 'reinforce_plus_plus') {
    draft.number('advantage.gamma', 'algorithm.gamma');
    from.skip('algorithm.lam');
  } else if (critic) {
    draft.number('advantage.gamma', 'algorithm.gamma');
    draft.number('advantage.lambda', 'algorithm.lam');
    draft.note(
      'mapped',
      'verl whitens GAE advantages and trains a critic: advantage.whiten = true, critic.model = full.',
    );
    const { gamma, lambda } = config.advantage;
    if (gamma < 1 || lambda < 1)
      draft.changed(
        'γ and λ below 1 act on sampled tokens only. verl 1e47e412 also counts the tokens of the environment.',
      );
  } else for (const key of ['gamma', 'lam']) from.skip(`algorithm.${key}`);
}

/** Estimators of verl that have the same name here. */
const estimators = ['gae', 'grpo', 'rloo', 'reinforce_plus_plus'];

/** Returns the name of `algorithm.adv_estimator`, one of verl's or `others`. Throws `config_unsupported`. */
export function estimatorOf(draft: Draft, others: readonly string[] = []): string {
  const source = 'algorithm.adv_estimator';
  const name = draft.from.text(source) ?? 'gae';
  const all = [...estimators, ...others];
  if (!all.includes(name)) throw unsupported(source, name, all);
  return name;
}

/** Our KL estimators by verl's names. */
const klEstimators: Record<string, 'k1' | 'k2' | 'k3'> = {
  kl: 'k1',
  k1: 'k1',
  mse: 'k2',
  k2: 'k2',
  low_var_kl: 'k3',
  'low-var-kl': 'k3',
  k3: 'k3',
};

function importKl(draft: Draft): void {
  const { from } = draft;
  const inReward = from.flag('algorithm.use_kl_in_reward') ?? false;
  const rewardWeight = from.number('algorithm.kl_ctrl.kl_coef', 0) ?? 0;
  const inLoss = from.flag(`${actor}.use_kl_loss`) ?? false;
  const lossWeight = from.number(`${actor}.kl_loss_coef`, 0) ?? 0;
  for (const key of ['horizon', 'target_kl']) from.skip(`algorithm.kl_ctrl.${key}`);
  if (inReward && inLoss && rewardWeight > 0 && lossWeight > 0)
    throw new Failure(
      'config_unsupported',
      'The files add a KL penalty to the reward and to the loss, but a run has only one.',
      `Override one, for example ${actor}.use_kl_loss=False.`,
    );
  const use = (weight: string, estimator: string, placement: 'reward' | 'loss', flag: string) => {
    draft.number('kl.coefficient', weight);
    const name = from.text(estimator) ?? 'kl';
    const own = klEstimators[name];
    if (own === undefined) throw unsupported(estimator, name, Object.keys(klEstimators));
    draft.set('kl.estimator', own, estimator);
    draft.set('kl.placement', placement, flag);
  };
  if (inLoss && lossWeight > 0) use(`${actor}.kl_loss_coef`, `${actor}.kl_loss_type`, 'loss', `${actor}.use_kl_loss`);
  else if (inReward && rewardWeight > 0) {
    use('algorithm.kl_ctrl.kl_coef', 'algorithm.kl_penalty', 'reward', 'algorithm.use_kl_in_reward');
    const type = from.text('algorithm.kl_ctrl.type') ?? 'fixed';
    if (type !== 'fixed' && type !== 'adaptive')
      throw unsupported('algorithm.kl_ctrl.type', type, ['fixed', 'adaptive']);
    if (type === 'adaptive')
      for (const key of ['type', 'horizon', 'target_kl']) draft.missing(`algorithm.kl_ctrl.${key}`);
  } else {
    draft.config.kl.coefficient = 0;
    const unused = rewardWeight > 0 ? 'algorithm.kl_ctrl.kl_coef' : lossWeight > 0 ? `${actor}.kl_loss_coef` : null;
    if (unused === null) draft.note('mapped', 'No KL penalty is used: kl.coefficient = 0.');
    else
      draft.set(
        'kl.coefficient',
        0,
        unused,
        'Without algorithm.use_kl_in_reward and use_kl_loss it has no effect in the current code. The code for the RAGEN paper subtracted it from the reward; for that, set kl.coefficient.',
      );
  }
  for (const key of ['algorithm.kl_ctrl.type', 'algorithm.kl_penalty', `${actor}.kl_loss_type`]) from.skip(key);
}

function importOptimizer(draft: Draft): void {
  const { from } = draft;
  const optim = `${actor}.optim`;
  draft.number('optimizer.learning_rate', `${optim}.lr`);
  const betas = from.pair(`${optim}.betas`);
  if (betas !== undefined) {
    const [first, second] = betas;
    draft.set('optimizer.beta1', first, `${optim}.betas`);
    draft.set('optimizer.beta2', second, `${optim}.betas`);
  }
  draft.number('optimizer.weight_decay', `${optim}.weight_decay`);
  draft.number('optimizer.gradient_clip', `${actor}.grad_clip`);
  const style = from.text(`${optim}.warmup_style`);
  if (style === 'constant' || style === 'cosine') draft.set('optimizer.schedule', style, `${optim}.warmup_style`);
  else if (style !== undefined) throw unsupported(`${optim}.warmup_style`, style, ['constant', 'cosine']);
  if ((from.number(`${optim}.min_lr_ratio`) ?? 0) > 0) draft.missing(`${optim}.min_lr_ratio`);
}

/** Sets the warm-up, which verl counts in iterations and we count in optimizer steps. Call it after the mini-batch and the iterations are set. */
export function importWarmup(draft: Draft, stepsPerIteration: number): void {
  const optim = `${actor}.optim`;
  const steps = draft.from.integer(`${optim}.lr_warmup_steps`) ?? -1;
  const ratio = draft.from.number(`${optim}.lr_warmup_steps_ratio`, 0, 1) ?? 0;
  const source = steps >= 0 ? `${optim}.lr_warmup_steps` : `${optim}.lr_warmup_steps_ratio`;
  const iterations = steps >= 0 ? steps : Math.floor(ratio * draft.config.iterations);
  const warmup = iterations * stepsPerIteration;
  if (iterations === 0) draft.set('optimizer.warmup', 0, source);
  else
    draft.set(
      'optimizer.warmup',
      warmup,
      source,
      `verl counts iterations; each has up to ${count(stepsPerIteration, 'optimizer step')}.`,
    );
  draft.changed("Iteration 1 uses the configured learning rate. verl's schedule gives 0 there.");
}

function importCritic(draft: Draft): void {
  const { from } = draft;
  if (draft.config.critic.model === 'none') {
    from.skip('critic');
    return;
  }
  draft.number('critic.learning_rate', 'critic.optim.lr');
  draft.number('critic.value_clip', 'critic.cliprange_value');
  draft.number('critic.gradient_clip', 'critic.grad_clip');
  from.skip('critic.optim.lr_warmup_steps_ratio');
  draft.integer('critic.warmup', 'trainer.critic_warmup');
  const same: [string, string, unknown][] = [
    ['ppo_mini_batch_size', `${actor}.ppo_mini_batch_size`, from.integer('critic.ppo_mini_batch_size')],
    ['ppo_epochs', `${actor}.ppo_epochs`, from.integer('critic.ppo_epochs')],
    ['optim.weight_decay', `${actor}.optim.weight_decay`, from.number('critic.optim.weight_decay')],
    ['optim.betas', `${actor}.optim.betas`, from.list('critic.optim.betas')],
  ];
  for (const [key, policy, value] of same)
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(from.value(policy)))
      draft.missing(`critic.${key}`);
  const model = from.text('critic.model.path');
  if (model !== undefined && model !== from.value('actor_rollout_ref.model.path')) draft.missing('critic.model.path');
}

function importSampling(draft: Draft): void {
  const { from } = draft;
  draft.number('rollout.temperature', `${rollout}.temperature`);
  importTruncation(draft, { top_p: `${rollout}.top_p`, top_k: `${rollout}.top_k` });
  draft.integer('rollout.max_response_tokens', `${rollout}.response_length`);
  const sampled = from.flag(`${rollout}.val_kwargs.do_sample`) ?? true;
  const temperature = from.number(`${rollout}.val_kwargs.temperature`);
  if (!sampled || temperature === 0)
    draft.set(
      'evaluation.temperature',
      0.01,
      `${rollout}.val_kwargs.${sampled ? 'temperature' : 'do_sample'}`,
      'The lowest temperature is 0.01, which is nearly greedy.',
    );
  else draft.number('evaluation.temperature', `${rollout}.val_kwargs.temperature`);
  from.skip(`${rollout}.val_kwargs.temperature`);
  for (const [key, off] of [
    ['top_p', 1],
    ['top_k', -1],
    ['n', 1],
  ] as const) {
    const value = from.number(`${rollout}.val_kwargs.${key}`);
    if (value !== undefined && value !== off) draft.missing(`${rollout}.val_kwargs.${key}`);
  }
}

/** Values with which rollouts sample from the full distribution, as training needs it. */
const untruncated = { top_p: 1, top_k: 0, min_p: 0 } as const;

/** Imports settings that truncate the distribution if they are off, and notes that the others are not used. */
export function importTruncation(
  draft: Draft,
  sources: Readonly<Partial<Record<keyof typeof untruncated, string>>>,
): void {
  const { from } = draft;
  for (const key of ['top_p', 'top_k', 'min_p'] as const) {
    const source = sources[key];
    const value = source && (key === 'top_k' ? from.integer(source, -1) : from.number(source, 0, 1));
    if (source === undefined || value === undefined) continue;
    // A top_k of -1 also disables it.
    if ((key === 'top_k' ? Math.max(0, Number(value)) : value) === untruncated[key])
      draft.set(`rollout.${key}`, untruncated[key], source);
    else draft.missing(source);
  }
}

function importSchedule(draft: Draft): void {
  const { from } = draft;
  for (const [target, source, what] of [
    ['evaluation.every', 'trainer.test_freq', 'evaluates'],
    ['checkpoint.every', 'trainer.save_freq', 'saves'],
  ] as const) {
    const every = from.integer(source);
    if (every === undefined) continue;
    if (every > 0) draft.set(target, every, source);
    else draft.set(target, 0, source, `A run always ${what} at its start and its end.`);
  }
  if (from.flag('trainer.val_before_train') === false) draft.missing('trainer.val_before_train');
}

export const unsupported = (source: string, value: string, choices: readonly string[]) =>
  new Failure(
    'config_unsupported',
    `${source} = ${value} has no counterpart in StarPO Studio.`,
    choices.length === 1
      ? `Override it: ${source}=${choices[0]}.`
      : `Override it with ${listWithOr(choices)}, for example ${source}=${choices[0]}.`,
  );
