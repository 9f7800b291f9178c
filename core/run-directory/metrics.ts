/** Every metric of an `iteration` event, as docs/formats/metrics.md lists them. */
export const metricNames = [
  'rollout/success_rate',
  'rollout/reward_mean',
  'rollout/reward_max_in_group',
  'rollout/reward_std_in_group',
  'rollout/reward_std_by_action',
  'rollout/zero_std_groups',
  'rollout/zero_std_solved',
  'rollout/zero_std_failed',
  'rollout/pass_at_n',
  'rollout/turns',
  'rollout/actions',
  'rollout/format_valid_rate',
  'rollout/action_valid_rate',
  'rollout/action_effective_rate',
  'rollout/response_tokens',
  'rollout/think_tokens',
  'rollout/truncated_rate',
  'rollout/entropy',
  'rollout/distinct_first_thoughts',
  'rollout/empty_think_rate',
  'rollout/logprob_gap',
  'rollout/logprob_gap_max',
  'rollout/logprob_gap_kl',
  'filter/kept_groups',
  'filter/kept_reward_std',
  'actor/loss',
  'actor/entropy',
  'actor/grad_norm',
  'actor/grad_norm_max',
  'actor/clip_fraction_low',
  'actor/clip_fraction_high',
  'actor/approximate_kl',
  'actor/kl_to_reference',
  'actor/learning_rate',
  'critic/loss',
  'critic/grad_norm',
  'critic/explained_variance',
  'critic/value_mean',
  'advantage/mean',
  'advantage/std',
  'warm_start/loss',
  'time/rollout',
  'time/update',
  'time/evaluation',
  'time/iteration',
  'throughput/generated_tokens_per_second',
  'throughput/trained_tokens_per_second',
  'memory/peak_bytes',
  'memory/device_peak_bytes',
] as const;

/** Each comes as `rollout/<label>/<name>` too, where several environments are trained. */
export const environmentMetricNames = metricNames
  .filter((name) => name.startsWith('rollout/') && !name.startsWith('rollout/logprob_gap'))
  .map((name) => name.slice('rollout/'.length));

/** Each comes as `evaluation/<label>/<name>`. */
export const evaluationMetricNames = [
  'success_rate',
  'success_rate_low',
  'success_rate_high',
  'reward_mean',
  'turns',
  'response_tokens',
  'format_valid_rate',
] as const;

/** The only ones that may differ between a run and its repetition or resumption. */
export const isMachineMetric = (name: string) => /^(time|throughput|memory)\//.test(name);
