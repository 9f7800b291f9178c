import { Failure } from '../contract/failure.ts';
import { ragen2Stops } from '../presets/algorithms.ts';
import { mostTrainedEpisodes } from '../run-config/trained-groups.ts';
import type { Draft } from './draft.ts';
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
  if (from.flag('enable_response_mask') === false) draft.missing('enable_response_mask');
  if (from.flag('grpo_advantage_length_weight')) draft.missing('grpo_advantage_length_weight');
  if ((from.integer('lora.rank', 0) ?? 0) > 0) draft.missing('lora.rank');
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
  if (separator !== undefined && separator.trim() !== '||') draft.missing('agent_proxy.action_sep');
  importContext(draft);
}

/** Imports `max_context_window`. In RAGEN, it cuts the stored history. In RAGEN-2, it has an effect in two of the modes. */
function importContext(draft: Draft): void {
  const { from } = draft;
  const alone = 'agent_proxy.without_history';
  if (from.flag(alone)) {
    draft.set('rollout.context_turns', 1, alone);
    return;
  }
  const [window, mode] = ['agent_proxy.max_context_window', 'agent_proxy.context_window_mode'];
  const kind = from.text(mode);
  const modes = ['full', 'limited_multi_turn', 'single_turn'];
  if (kind !== undefined && !modes.includes(kind)) throw unsupported(mode, kind, modes);
  const turns = from.integer(window) ?? -1;
  if (kind === 'full' || turns <= 0) {
    draft.set('rollout.context_turns', 0, kind === 'full' ? mode : window);
    return;
  }
  draft.set('rollout.context_turns', turns, window);
  if (kind === undefined)
    draft.changed('Turns outside the context are trained and count in the score. RAGEN drops them.');
  if (kind === 'single_turn' && turns > 1)
    draft.changed('Earlier turns of a context are messages. RAGEN-2 lists them in the text of the current message.');
}

/** Our filter strategies and scores by RAGEN-2's names. */
const strategies: Record<string, string> = { top_p: 'top_p', top_k: 'fraction', top_k_abs: 'top_k', min_p: 'min_p' };
const scores: Record<string, string> = { reward_variance: 'reward_std', entropy: 'entropy', length: 'length' };

/** Imports the filter of RAGEN (rollout_filter_ratio, _type) or RAGEN-2 (rollout_filter_strategy, _value, ...). */
function importFilter(draft: Draft): void {
  const { from } = draft;
  const own = (name: string) => `${rollout}.rollout_filter_${name}`;
  const second = ['value', 'strategy'].some((key) => from.has(own(key)));
  if (second) importEarlyStops(draft);
  const strategy = second ? (from.text(own('strategy')) ?? 'top_p') : 'top_k';
  const source = own(second ? 'value' : 'ratio');
  const keep = from.number(source, 0) ?? 1;
  if (keep >= 1 && (strategy === 'top_p' || strategy === 'top_k')) {
    draft.set('filter.strategy', 'none', source);
    draft.config.filter.keep = 1;
    for (const key of ['type', 'strategy', 'metric', 'include_zero', 'top_p_prob_mode', 'selection_eps'])
      from.skip(own(key));
    return;
  }
  const weights = from.text(own('top_p_prob_mode')) ?? 'linear';
  if (weights !== 'linear' && weights !== 'softmax')
    throw unsupported(own('top_p_prob_mode'), weights, ['linear', 'softmax']);
  const softmax = strategy === 'top_p' && weights === 'softmax';
  const target = softmax ? 'softmax' : strategies[strategy];
  if (target === undefined) throw unsupported(own('strategy'), strategy, Object.keys(strategies));
  draft.set('filter.strategy', target, own(softmax ? 'top_p_prob_mode' : second ? 'strategy' : 'type'));
  draft.set(target === 'top_k' ? 'filter.count' : 'filter.keep', keep, source);
  const type = from.text(own('type')) ?? (second ? 'largest' : 'std');
  const types = second ? ['largest', 'smallest'] : ['std', 'largest'];
  if (!types.includes(type)) throw unsupported(own('type'), type, types);
  draft.set('filter.order', type === 'smallest' ? 'smallest' : 'largest', own('type'));
  const metric = from.text(own('metric')) ?? 'reward_variance';
  if (scores[metric] === undefined) throw unsupported(own('metric'), metric, Object.keys(scores));
  draft.set('filter.score', scores[metric], own('metric'));
  if (from.flag(own('include_zero'))) draft.missing(own('include_zero'));
  draft.changed('The filter ranks groups by the raw episode reward. RAGEN ranks by the reward after normalization.');
  if (draft.config.environments.filter(({ share }) => share > 0).length > 1)
    draft.changed('The filter ranks the groups of each environment separately. RAGEN ranks all together.');
}

/** Imports the early-stop rules. RAGEN-2 always stops a run on low reward std and on failed evaluations; only the limit of empty filters is a setting. */
function importEarlyStops(draft: Draft): void {
  const { reward_std, failed_evaluations, empty_filters } = ragen2Stops;
  draft.config.early_stop = { ...ragen2Stops };
  draft.note(
    'default',
    `RAGEN-2 always has these rules: early_stop.reward_std = ${reward_std}, early_stop.failed_evaluations = ${failed_evaluations}.`,
  );
  const source = `${rollout}.rollout_filter_empty_stop_steps`;
  draft.set('early_stop.empty_filters', draft.from.integer(source, 0) ?? empty_filters, source);
}

const normalization = 'agent_proxy.reward_normalization';
const methods: Record<string, string> = {
  identity: 'none',
  mean: 'mean',
  mean_std: 'mean_std',
  asym_clip: 'asymmetric_clip',
};
const groupings: Record<string, string> = { state: 'group', inductive: 'environment', batch: 'batch' };

function importEstimator(draft: Draft): void {
  const { from } = draft;
  const source = 'algorithm.adv_estimator';
  const method = from.text(`${normalization}.method`) ?? 'identity';
  const grouping = from.text(`${normalization}.grouping`) ?? 'state';
  if (methods[method] === undefined) throw unsupported(`${normalization}.method`, method, Object.keys(methods));
  if (groupings[grouping] === undefined)
    throw unsupported(`${normalization}.grouping`, grouping, Object.keys(groupings));
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
  const usesTurnScores = from.flag('agent_proxy.use_turn_scores') ?? false;
  if (usesTurnScores && method !== 'identity')
    draft.missing(`${normalization}.method`, 'RAGEN does not normalize the scores of turns (use_turn_scores)');
  else if (method !== 'identity') {
    if (grouping === 'state' && draft.config.rollout.group_size === 1)
      throw unsupported(`${normalization}.grouping`, 'state, with groups of one episode,', ['batch', 'inductive']);
    draft.set('reward.normalization', methods[method], `${normalization}.method`);
    draft.set('reward.normalize_by', groupings[grouping], `${normalization}.grouping`);
  }
  if (from.flag('algorithm.bi_level_gae')) {
    setEstimator(draft, 'bi_level_gae', 'algorithm.bi_level_gae');
    draft.number('advantage.turn_gamma', 'algorithm.high_level_gamma');
  } else {
    from.skip('algorithm.high_level_gamma');
    setEstimator(draft, own, source);
  }
  if (usesTurnScores) draft.set('advantage.rewards', 'turn', 'agent_proxy.use_turn_scores');
}

function importIterations(draft: Draft): void {
  const steps = 'trainer.total_training_steps';
  if (draft.from.integer(steps) === undefined)
    throw new Failure('config_invalid', `${steps} is not set.`, `Set it, for example with +${steps}=200.`);
  draft.integer('iterations', steps);
}

/** Returns the optimizer steps of a full iteration. */
export function stepsPerIteration({ config }: Draft): number {
  const { mini_batch, epochs } = config.policy_loss;
  return Math.ceil(mostTrainedEpisodes(config) / mini_batch) * epochs;
}
