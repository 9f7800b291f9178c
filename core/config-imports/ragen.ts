import { Failure } from '../contract/failure.ts';
import { mostTrainedEpisodes } from '../run-config/trained-groups.ts';
import { type Draft, hasChoice } from './draft.ts';
import { importEnvironments } from './environments.ts';
import { estimatorOf, importTraining, importWarmup, setEstimator, unsupported } from './verl.ts';

/** RAGEN's configuration: config/base.yaml, envs.yaml and verl's ppo_trainer.yaml. */

const rollout = 'actor_rollout_ref.rollout';

export function importRagen(draft: Draft): void {
  const { from } = draft;
  importEnvironments(draft);
  importAgent(draft);
  importFilter(draft);
  importEstimator(draft);
  importTraining(draft);
  draft.integer('rollout.context', `${rollout}.max_model_len`);
  importIterations(draft);
  importWarmup(draft, stepsPerIteration(draft));
  draft.config.rollout.slots = Math.min(
    draft.config.rollout.slots,
    draft.config.rollout.groups * draft.config.rollout.group_size,
  );
  if (from.flag('enable_response_mask') === false)
    draft.missing('enable_response_mask', 'only sampled tokens are trained, not the text of the environment.');
  if (from.flag('grpo_advantage_length_weight'))
    draft.missing('grpo_advantage_length_weight', 'advantages are not weighted by length.');
  if ((from.integer('lora.rank') ?? 0) > 0)
    draft.missing('lora.rank', 'all weights are trained. Learning rates for LoRA are usually too high for that.');
  // Settings of verl without effect in RAGEN.
  for (const path of ['data', 'trainer.total_epochs', `${rollout}.n`, 'algorithm.norm_adv_by_std_in_grpo'])
    from.skip(path);
  draft.changed(
    'The sampled tokens are trained as they are. RAGEN rewrites each response and tokenizes it again, and also trains template tokens.',
  );
}

function importAgent(draft: Draft): void {
  const { from } = draft;
  draft.flag('rollout.think', 'agent_proxy.enable_think');
  draft.number('reward.format_penalty', 'es_manager.format_penalty');
  for (const key of ['max_turn', 'max_actions_per_turn']) {
    const value = from.value(`agent_proxy.${key}`);
    if (value !== undefined) draft.note('mapped', `agent_proxy.${key} = ${value} applies to every environment.`);
  }
  const separator = from.text('agent_proxy.action_sep');
  if (separator !== undefined && separator.trim() !== '||')
    draft.missing('agent_proxy.action_sep', 'actions are separated by ||, and the prompt asks for that.');
  if ((from.integer('agent_proxy.max_context_window') ?? -1) > 0)
    draft.missing('agent_proxy.max_context_window', 'a turn sees the whole episode.');
  const mode = from.text('agent_proxy.context_window_mode');
  if (mode !== undefined && mode !== 'full')
    draft.missing('agent_proxy.context_window_mode', 'a turn sees the whole episode.');
  if (from.flag('agent_proxy.use_turn_scores'))
    draft.missing('agent_proxy.use_turn_scores', 'the reward of an episode is given at its last sampled token.');
}

/** Imports the filter of RAGEN (rollout_filter_ratio, _type) or RAGEN-2 (rollout_filter_strategy, _value, ...). */
function importFilter(draft: Draft): void {
  const { from } = draft;
  const second = ['value', 'strategy'].some((key) => from.has(`${rollout}.rollout_filter_${key}`));
  const strategy = second ? (from.text(`${rollout}.rollout_filter_strategy`) ?? 'top_p') : 'top_k';
  const source = `${rollout}.rollout_filter_${second ? 'value' : 'ratio'}`;
  const keep = from.number(source) ?? 1;
  const type = from.text(`${rollout}.rollout_filter_type`) ?? (second ? 'largest' : 'std');
  const off = keep >= 1 && (strategy === 'top_p' || strategy === 'top_k');
  if (off) {
    draft.set('filter.strategy', 'none', source);
    draft.config.filter.keep = 1;
    for (const key of ['strategy', 'metric', 'include_zero', 'top_p_prob_mode', 'selection_eps'])
      from.skip(`${rollout}.rollout_filter_${key}`);
  } else {
    const own = { top_k: 'fraction', top_p: 'top_p' }[strategy] ?? strategy;
    if (!hasChoice('filter.strategy', own))
      throw unsupported(`${rollout}.rollout_filter_strategy`, strategy, ['top_p', 'top_k']);
    if (!['std', 'largest'].includes(type))
      throw unsupported(`${rollout}.rollout_filter_type`, type, [second ? 'largest' : 'std']);
    const metric = from.text(`${rollout}.rollout_filter_metric`) ?? 'reward_variance';
    if (metric !== 'reward_variance')
      throw unsupported(`${rollout}.rollout_filter_metric`, metric, ['reward_variance']);
    if (from.text(`${rollout}.rollout_filter_top_p_prob_mode`) === 'softmax')
      throw unsupported(`${rollout}.rollout_filter_top_p_prob_mode`, 'softmax', ['linear']);
    draft.set('filter.strategy', own, second ? `${rollout}.rollout_filter_strategy` : `${rollout}.rollout_filter_type`);
    draft.set('filter.keep', keep, source);
    if (from.flag(`${rollout}.rollout_filter_include_zero`))
      draft.missing(
        `${rollout}.rollout_filter_include_zero`,
        'groups without reward std are dropped by top_p, and kept by fraction only to fill its share.',
      );
    from.skip(`${rollout}.rollout_filter_selection_eps`);
    draft.changed('The filter ranks groups by the raw episode reward. RAGEN ranks by the reward after normalization.');
  }
  if (draft.config.environments.filter(({ share }) => share > 0).length > 1 && !off)
    draft.changed('The filter ranks the groups of each environment separately. RAGEN ranks all together.');
}

function importEstimator(draft: Draft): void {
  const { from } = draft;
  const source = 'algorithm.adv_estimator';
  const normalization = 'agent_proxy.reward_normalization';
  const method = from.text(`${normalization}.method`) ?? 'identity';
  const grouping = from.text(`${normalization}.grouping`) ?? 'state';
  const own = estimatorOf(draft);
  if (own === 'grpo') {
    if (grouping !== 'state' && method !== 'identity')
      throw unsupported(`${normalization}.grouping`, grouping, ['state']);
    if (method === 'mean')
      setEstimator(draft, 'dr_grpo', `${normalization}.method`, 'It subtracts the mean of the group.');
    else if (method === 'mean_std') setEstimator(draft, 'grpo', source);
    else if (method !== 'identity') throw unsupported(`${normalization}.method`, method, ['mean_std', 'mean']);
    else if (from.flag('algorithm.norm_adv_by_std_in_grpo') === false)
      setEstimator(draft, 'dr_grpo', 'algorithm.norm_adv_by_std_in_grpo', 'Without the std, GRPO is Dr. GRPO.');
    else
      setEstimator(
        draft,
        'grpo',
        source,
        'Rewards are normalized in their group, as in RAGEN-2. In the first RAGEN, without reward_normalization.method = mean_std, they would not be.',
      );
    return;
  }
  if (method !== 'identity')
    throw new Failure(
      'config_unsupported',
      `${normalization}.method = ${method} with ${source} = ${own} has no counterpart in StarPO Studio.`,
      `Override ${normalization}.method=identity, or ${source}=grpo.`,
    );
  const twoLevels = from.flag('algorithm.bi_level_gae') ?? false;
  if (!twoLevels) {
    from.skip('algorithm.high_level_gamma');
    setEstimator(draft, own, source);
  } else if (hasChoice('advantage.estimator', 'bi_level_gae')) {
    setEstimator(draft, 'bi_level_gae', 'algorithm.bi_level_gae');
    draft.number('advantage.turn_gamma', 'algorithm.high_level_gamma');
  } else throw unsupported('algorithm.bi_level_gae', 'true', ['False']);
}

function importIterations(draft: Draft): void {
  const steps = 'trainer.total_training_steps';
  if (draft.from.integer(steps) === undefined)
    throw new Failure('config_invalid', `${steps} is not set.`, `Override it, for example ${steps}=200.`);
  draft.integer('iterations', steps);
}

/** Returns the optimizer steps of a full iteration. */
export function stepsPerIteration({ config }: Draft): number {
  const { mini_batch, epochs } = config.policy_loss;
  return Math.ceil(mostTrainedEpisodes(config) / mini_batch) * epochs;
}
