/** Short titles of metrics, for sentences and small print; docs/formats/metrics.md says what each one is. */
export const metricTitles: Readonly<Record<string, string>> = {
  'rollout/reward_std_in_group': 'spread of rewards in groups',
  'rollout/zero_std_groups': 'groups without spread',
  'rollout/zero_std_failed': 'groups in which all fail',
  'rollout/zero_std_solved': 'groups in which all succeed',
  'rollout/first_action_dependence': 'what the first move tells of the board',
  'rollout/thought_likeness_in_group': 'likeness of thoughts in groups',
  'rollout/thought_likeness_across': 'likeness of thoughts across boards',
  'rollout/success_rate': 'success',
  'rollout/reward_mean': 'mean reward',
  'rollout/format_valid_rate': 'valid replies',
  'rollout/action_valid_rate': 'valid actions',
  'rollout/response_tokens': 'reply tokens per episode',
  'rollout/think_tokens': 'tokens of a thought',
  'rollout/turns': 'turns per episode',
  'rollout/pass_at_n': 'groups in which any succeeds',
  'actor/clip_fraction_high': 'share of tokens that the clip holds back',
  'rollout/answer_entropy': 'entropy of answers',
  'rollout/template_share': 'share of the commonest thought',
  'actor/grad_norm': 'gradient norm',
  'actor/grad_norm_max': 'largest gradient norm',
  'diagnostics/mutual_information': 'mutual information of thoughts and boards',
};

/** Of one without a title, the words of its name. */
export function metricTitle(metric: string): string {
  const words = metric.slice(metric.indexOf('/') + 1).replaceAll(/[_/]/g, ' ');
  return metricTitles[metric] ?? words.replace('std', 'spread');
}
