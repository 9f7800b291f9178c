import type { ImportSource } from '../contract/imports.ts';
import { evaluationMetricNames, metricNames } from '../run-directory/metrics.ts';
import { slug } from '../run-directory/names.ts';

/**
 * Maps metric names of other trainers to StarPO names. Only metrics with the same meaning, or substitutes for missing ones, are mapped; others keep
 * their name with the trainer's as prefix.
 */

/** Pattern of a trainer's metric name, and the StarPO name. `$1` is the label of an environment or dataset. */
type Rule = readonly [RegExp, string];

/** From verl/trainer/ppo/metric_utils.py and the actor and critic workers. */
const verlUpdate: readonly Rule[] = [
  [/^actor\/entropy_loss$/, 'actor/entropy'],
  // From the pass that computes the old log-probabilities of the whole sampled batch.
  [/^actor\/entropy$/, 'rollout/entropy'],
  [/^actor\/grad_norm$/, 'actor/grad_norm'],
  [/^actor\/pg_loss$/, 'actor/loss'],
  [/^actor\/ppo_kl$/, 'actor/approximate_kl'],
  [/^actor\/kl_loss$/, 'actor/kl_to_reference'],
  [/^actor\/lr$/, 'actor/learning_rate'],
  [/^critic\/grad_norm$/, 'critic/grad_norm'],
  [/^critic\/vf_loss$/, 'critic/loss'],
  [/^timing_s\/gen$/, 'time/rollout'],
  [/^timing_s\/step$/, 'time/iteration'],
];

const rules: Record<'ragen' | 'verl' | 'trl', readonly Rule[]> = {
  // From ragen/llm_agent/es_manager.py, ragen/trainer/agent_trainer.py and ragen/trainer/rollout_filter.py.
  ragen: [
    [/^train\/([^/]+)\/success$/, 'rollout/$1/success_rate'],
    [/^train\/([^/]+)\/pass@\d+$/, 'rollout/$1/pass_at_n'],
    [/^train\/([^/]+)\/num_actions$/, 'rollout/$1/actions'],
    [/^train\/([^/]+)\/action_is_valid$/, 'rollout/$1/action_valid_rate'],
    [/^train\/response_length$/, 'rollout/response_tokens'],
    [/^rollout\/in_group_reward_std$/, 'rollout/reward_std_in_group'],
    [/^rollout\/in_group_reward_max$/, 'rollout/reward_max_in_group'],
    [/^rollout\/in_group_reward_mean$/, 'rollout/reward_mean'],
    [/^rollout\/chosen_in_group_reward_std$/, 'filter/kept_reward_std'],
    [/^val-env\/([^/]+)\/success$/, 'evaluation/$1/success_rate'],
    // From ragen/trainer/collapse_metrics.py. `seq` sums over the tokens of a reasoning text, as StarPO does; its token averages differ.
    [/^collapse_first_turn_sample\/mi_seq_estimate$/, 'diagnostics/mutual_information'],
    [/^collapse_first_turn_sample\/mi_upper_bound$/, 'diagnostics/mutual_information_ceiling'],
    [/^collapse_first_turn_sample\/conditional_entropy_seq_est$/, 'diagnostics/conditional_entropy'],
    [/^collapse_first_turn_sample\/reasoning_entropy_seq_est$/, 'diagnostics/marginal_entropy'],
    [/^collapse_first_turn_sample\/retrieval_accuracy$/, 'diagnostics/retrieval_accuracy'],
    [/^collapse_first_turn_sample\/retrieval_accuracy@2$/, 'diagnostics/retrieval_accuracy_at_k'],
    ...verlUpdate,
  ],
  verl: [
    [/^critic\/score\/mean$/, 'rollout/reward_mean'],
    [/^response_length\/mean$/, 'rollout/response_tokens'],
    [/^response_length\/clip_ratio$/, 'rollout/truncated_rate'],
    [/^critic\/values\/mean$/, 'critic/value_mean'],
    [/^critic\/vf_explained_var$/, 'critic/explained_variance'],
    [/^val-core\/(.+)\/acc\/mean@\d+$/, 'evaluation/$1/success_rate'],
    [/^val-core\/(.+)\/reward\/mean@\d+$/, 'evaluation/$1/reward_mean'],
    [/^val\/test_score\/(.+)$/, 'evaluation/$1/reward_mean'],
    ...verlUpdate,
  ],
  // From GRPOTrainer and RLOOTrainer; trackers add the prefix `train/`.
  trl: [
    [/^(?:train\/)?reward$/, 'rollout/reward_mean'],
    [/^(?:train\/)?reward_std$/, 'rollout/reward_std_in_group'],
    [/^(?:train\/)?frac_reward_zero_std$/, 'rollout/zero_std_groups'],
    [/^(?:train\/)?entropy$/, 'rollout/entropy'],
    [/^(?:train\/)?(?:completions\/mean_length|completion_length)$/, 'rollout/response_tokens'],
    [/^(?:train\/)?completions\/clipped_ratio$/, 'rollout/truncated_rate'],
    [/^(?:train\/)?kl$/, 'actor/kl_to_reference'],
    [/^(?:train\/)?grad_norm$/, 'actor/grad_norm'],
    [/^(?:train\/)?learning_rate$/, 'actor/learning_rate'],
    [/^(?:train\/)?loss$/, 'actor/loss'],
    [/^(?:train\/)?clip_ratio\/low_mean$/, 'actor/clip_fraction_low'],
    [/^(?:train\/)?clip_ratio\/high_mean$/, 'actor/clip_fraction_high'],
    [/^(?:train\/)?step_time$/, 'time/iteration'],
    [/^eval[_/]reward$/, 'evaluation/eval/reward_mean'],
  ],
};

/**
 * RAGEN's names for what its filter measures: rewards, lengths or entropies. Newer versions also log them under a name that includes it
 * ({@link measuredByFilter}); then these names are left unmapped.
 */
const filterRules: readonly Rule[] = [
  [/^rollout\/in_group_std$/, 'rollout/reward_std_in_group'],
  [/^rollout\/in_group_max$/, 'rollout/reward_max_in_group'],
  [/^rollout\/in_group_mean$/, 'rollout/reward_mean'],
  [/^rollout\/chosen_in_group_std$/, 'filter/kept_reward_std'],
];
const measuredByFilter = /^rollout\/(?:chosen_)?in_group_(?:reward|length|entropy)_/;

/** Columns whose meaning depends on the trainer's settings, and the setting that the mapping assumes. */
const assumptions: readonly (readonly [ImportSource, RegExp, string])[] = [
  ['ragen', /^rollout\/(?:chosen_)?in_group_(?:std|max|mean)$/, 'RAGEN filters by reward, not by length or entropy'],
  [
    'trl',
    /^(?:train\/)?reward_std$/,
    'scale_rewards isn\'t "batch", so the column is the standard deviation within groups',
  ],
  ['other', /^(?:train\/)?reward[/_]std$/i, 'the column is the standard deviation within groups'],
];

/** Returns what the mapping of a column assumes, or null. */
export const assumptionOf = (from: ImportSource, column: string): string | null =>
  assumptions.find(([source, pattern]) => source === from && pattern.test(column))?.[2] ?? null;

/** Names that only one trainer logs. RAGEN logs verl's names too. */
const signatures: readonly (readonly [ImportSource, RegExp])[] = [
  [
    'ragen',
    /^(?:rollout\/(?:chosen_)?in_group_|train\/[^/]+\/(?:success|pass@\d+|action_is_valid)$|val-env\/|collapse_)/,
  ],
  [
    'verl',
    /^(?:critic\/(?:score|rewards|returns|advantages)\/|response_length\/|val-core\/|val\/test_score\/|timing_s\/|actor\/(?:pg_loss|pg_clipfrac|ppo_kl|entropy_loss)$|training\/global_step$)/,
  ],
  [
    'trl',
    /^(?:train\/)?(?:frac_reward_zero_std|completion_length|completions\/|clip_ratio\/|rewards\/.+\/(?:mean|std)$|sampling\/)/,
  ],
];

/** Recognizes the trainer by the names of its metrics. */
export function recognizeSource(columns: readonly string[]): ImportSource {
  const names = columns.map(originalName);
  const signed = signatures.find(([, pattern]) => names.some((name) => pattern.test(name)));
  if (signed) return signed[0];
  return names.some((name) => name.includes('/') && isStarpoName(name)) && names.every((name) => name.includes('/'))
    ? 'starpo'
    : 'other';
}

/** Returns the name that the trainer gave a metric. MLflow and TensorBoard don't allow `@`: verl's MLflow logger writes `_at_`, tensorboardX `_`. */
const originalName = (name: string) => name.replace(/(mean|pass|retrieval_accuracy)_(?:at_)?(\d+)$/, '$1@$2');

/** Names of the step column, best first. */
export const stepColumns = ['training/global_step', 'train/global_step', 'global_step', 'step', '_step', 'iteration'];

/** Columns that trackers add to each row. */
export const trackerColumns =
  /^(_timestamp|timestamp|_runtime|_wandb|_wandb\..*|wall[ _]time|epoch|train\/epoch|training\/epoch)$/i;

/** Columns of StarPO's own exports with the hashes of evaluation panels. */
export const panelColumns = /^(evaluation\/[^/]+\/panel|panels\/[^/]+)$/;

/** Common lowercase column names in users' own tables, besides the names of StarPO and TRL. */
const commonNames: readonly Rule[] = [
  [/^(?:train\/)?(?:success|success_rate|solve_rate|win_rate)$/, 'rollout/success_rate'],
  [/^(?:train\/)?(?:reward_mean|mean_reward|avg_reward|average_reward|reward\/mean)$/, 'rollout/reward_mean'],
  [/^(?:train\/)?(?:reward_std_in_group|in_group_std|reward\/std)$/, 'rollout/reward_std_in_group'],
  [/^(?:train\/)?(?:policy_entropy|mean_entropy|entropy_mean)$/, 'rollout/entropy'],
  [/^(?:train\/)?(?:response_length|response_tokens|mean_response_length)$/, 'rollout/response_tokens'],
  [/^(?:train\/)?(?:policy_loss|pg_loss|actor_loss)$/, 'actor/loss'],
  [/^(?:train\/)?(?:gradient_norm|actor_grad_norm)$/, 'actor/grad_norm'],
  [/^(?:train\/)?(?:approx_kl|approximate_kl|ppo_kl)$/, 'actor/approximate_kl'],
  [/^(?:train\/)?(?:kl_loss|kl_to_reference)$/, 'actor/kl_to_reference'],
  [/^(?:train\/)?lr$/, 'actor/learning_rate'],
  [/^(?:train\/)?(?:value_loss|critic_loss|vf_loss)$/, 'critic/loss'],
  [/^(?:eval|val|test)[_/](?:success|success_rate)$/, 'evaluation/eval/success_rate'],
  [/^(?:val|test)[_/]reward$/, 'evaluation/eval/reward_mean'],
];

/** Substitutes for metrics without an exact column, best first, with the difference. Only metrics for detectors have substitutes. */
const substitutes: Partial<
  Record<ImportSource, readonly (readonly [column: string, name: string, difference: string])[]>
> = {
  ragen: [
    ['actor/entropy_loss', 'rollout/entropy', 'the entropy at the update'],
    ['critic/score/mean', 'rollout/reward_mean', 'the mean over the trained episodes'],
    ['critic/rewards/mean', 'rollout/reward_mean', 'the mean over the trained episodes'],
  ],
  verl: [
    ['actor/entropy_loss', 'rollout/entropy', 'the entropy at the update'],
    ['critic/rewards/mean', 'rollout/reward_mean', 'the mean including any KL penalty'],
  ],
};
export const substitutesFor = (from: ImportSource) => substitutes[from] ?? [];

/** Metrics that depend only on the weights. If one stays NaN or infinite, the policy is broken. Others may be NaN because nothing was measured. */
export const dependsOnWeights = /^(rollout\/entropy|actor\/(loss|grad_norm|entropy)|critic\/(loss|grad_norm))$/;
/** The metrics of {@link dependsOnWeights} that every update logs. They indicate a broken policy even if they were never finite. */
export const isInEveryUpdate = /^actor\/(loss|grad_norm)$/;

/** Returns the StarPO name of each column that has one, and of every column of a StarPO export. */
export function starpoNames(from: ImportSource, columns: readonly string[]): Map<string, string> {
  const sourceRules = [...(from === 'starpo' || from === 'other' ? [...commonNames, ...rules.trl] : rules[from])];
  if (from === 'ragen' && !columns.some((name) => measuredByFilter.test(name))) sourceRules.push(...filterRules);
  const nameOf = (column: string) => {
    if (from === 'starpo') return column;
    if (from === 'other') return isStarpoName(column) ? column : mappedName(sourceRules, column.toLowerCase());
    return mappedName(sourceRules, from === 'trl' ? column : originalName(column));
  };
  return new Map(columns.flatMap((column) => [[column, nameOf(column)] as const]).filter(isMapped));
}

const isMapped = (pair: readonly [string, string | null]): pair is readonly [string, string] => pair[1] !== null;

function mappedName(candidates: readonly Rule[], name: string): string | null {
  for (const [pattern, replacement] of candidates) {
    const match = pattern.exec(name);
    if (match) return replacement.replace('$1', labelOf(match[1] ?? ''));
  }
  return null;
}

/** Metrics of `iteration` events with a label or number in their name, such as `rollout/action_share/<action>`. */
const patterns = metricNames.filter((name) => name.includes('<')).map((name) => name.slice(0, name.indexOf('<')));

/** Returns the environment's label in a metric's name: `lake` in `rollout/lake/entropy` and `evaluation/lake/success_rate`. */
export function labelIn(name: string): string | null {
  const [prefix, label, ...rest] = name.split('/');
  if (label === undefined || rest.length === 0) return null;
  const isLabeled =
    prefix === 'evaluation' || (prefix === 'rollout' && !isOwnMetric(name) && isOwnMetric(`rollout/${rest.join('/')}`));
  return isLabeled ? label : null;
}

const isOwnMetric = (name: string) =>
  metricNames.includes(name) || patterns.some((start) => name.startsWith(start) && name.length > start.length);

/** Returns the name of a rollout metric without the environment's label. */
export const withoutLabel = (name: string) =>
  name.startsWith('rollout/') && labelIn(name) !== null ? `rollout/${name.split('/').slice(2).join('/')}` : name;

function isStarpoName(name: string): boolean {
  const [prefix, label, metric = ''] = name.split('/');
  if (prefix === 'evaluation') return label !== undefined && evaluationMetricNames.includes(metric);
  return isOwnMetric(name) || labelIn(name) !== null;
}

/** Converts text to a label as in run.json. */
const labelOf = (text: string) => slug(text, 32) || 'other';
