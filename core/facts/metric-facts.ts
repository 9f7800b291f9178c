import { metricTitle } from '../contract/metric-titles.ts';
import { typeTitle } from '../presets/environment-words.ts';
import description from '../run-directory/description.json' with { type: 'json' };

/** What is known of a metric by its name. */
export interface MetricFacts {
  /** Of a chart: short, and begins with a capital letter. */
  title: string;
  /** `share`, `nats`, `tokens`, ...; empty where it has none, or isn't known. */
  unit: string;
  /** As docs/formats/metrics.md has it; empty for one that the trainer of this version doesn't write. */
  meaning: string;
}

/** Where a chart has room for less, or has to tell from its neighbours, what a sentence calls otherwise. */
const chartTitles: Readonly<Record<string, string>> = {
  'rollout/success_rate': 'Success',
  'rollout/reward_mean': 'Reward',
  'rollout/reward_std_in_group': 'Reward spread',
  'rollout/reward_std_by_action': 'Reward spread by choice',
  'rollout/reward_max_in_group': 'Best reward in groups',
  'rollout/zero_std_failed': 'Groups that all fail',
  'rollout/zero_std_solved': 'Groups that all succeed',
  'rollout/pass_at_n': 'Groups with a success',
  'rollout/level_ease': 'Ease of the levels',
  'rollout/action_effective_rate': 'Effective actions',
  'rollout/response_tokens': 'Response length',
  'rollout/turns': 'Turns per episode',
  'rollout/actions': 'Actions per episode',
  'rollout/think_tokens': 'Thought length',
  'rollout/truncated_rate': 'Replies cut short',
  'rollout/empty_think_rate': 'Empty thoughts',
  'rollout/think_entropy': 'Entropy of thoughts',
  'rollout/answer_entropy': 'Entropy of answers',
  'rollout/template_share': 'Commonest thought',
  'rollout/common_opening_share': 'Commonest opening',
  'rollout/repeated_ngrams': 'Repetition in replies',
  'rollout/thought_likeness_in_group': 'Likeness in groups',
  'rollout/thought_likeness_across': 'Likeness across boards',
  'rollout/first_action_entropy': 'Entropy of first moves',
  'rollout/first_action_dependence': 'First move follows the board',
  'rollout/logprob_gap': 'Gap of log-probabilities',
  'rollout/logprob_gap_max': 'Largest gap of log-probabilities',
  'rollout/logprob_gap_kl': 'KL of rollout from update',
  'filter/kept_groups': 'Groups trained on',
  'filter/kept_reward_std': 'Spread of those trained on',
  'actor/loss': 'Policy loss',
  'actor/entropy': 'Entropy at the update',
  'actor/clip_fraction_low': 'Clipped below',
  'actor/clip_fraction_high': 'Clipped above',
  'actor/ratio_max': 'Largest ratio',
  'actor/approximate_kl': 'KL to the rollout',
  'actor/kl_to_reference': 'KL to the reference',
  'critic/loss': 'Value loss',
  'critic/grad_norm': 'Gradient norm of the critic',
  'critic/value_mean': 'Mean value',
  'advantage/mean': 'Mean advantage',
  'advantage/std': 'Spread of advantages',
  'advantage/active_share': 'Tokens with an advantage',
  'advantage/zero_spread_share': 'Advantage from equal rewards',
  'diagnostics/mutual_information': 'Thoughts and boards',
  'diagnostics/mutual_information_ceiling': 'Thoughts and boards: ceiling',
  'diagnostics/kl_from_start': 'KL from the start',
  'warm_start/loss': 'Loss',
  'time/iteration': 'Time of an iteration',
  'time/rollout': 'Time of rollouts',
  'time/update': 'Time of updates',
  'time/write': 'Time of writing',
  'time/diagnostics': 'Time of diagnostics',
  'throughput/generated_tokens_per_second': 'Generated tokens',
  'throughput/trained_tokens_per_second': 'Trained tokens',
  'memory/peak_bytes': 'Memory at most',
  'memory/device_peak_bytes': 'GPU memory at most',
};

const titleOf = (name: string) => chartTitles[name] ?? metricTitle(name);

const known = new Map(description.metrics.map((metric) => [metric.name, metric]));
const ofEvaluations = new Map(description.evaluationMetrics.map((metric) => [metric.name, metric]));

export function metricFacts(name: string): MetricFacts {
  const { title, unit = '', meaning = '' } = found(name);
  return { title: `${title.charAt(0).toUpperCase()}${title.slice(1)}`, unit, meaning };
}

/** A metric of an environment or of an evaluation set is the one whose name it has without the label. */
function found(name: string): { title: string; unit?: string; meaning?: string } {
  const exact = known.get(name);
  if (exact) return { ...exact, title: titleOf(name) };
  const [group, label = '', ...rest] = name.split('/');
  const last = rest.join('/');
  if (group === 'evaluation' && last)
    return {
      ...ofEvaluations.get(last),
      title: `${titleOf(`rollout/${last}`)}, ${typeTitle(label)}`,
    };
  if (group === 'rollout' && last) {
    const member = [...known].find(([pattern]) => pattern.startsWith(`rollout/${label}/<`));
    if (member) return { ...member[1], title: `${label.replaceAll('_', ' ')}: ${last.replaceAll('_', ' ')}` };
    return {
      ...known.get(`rollout/${last}`),
      title: `${titleOf(`rollout/${last}`)}, ${typeTitle(label)}`,
    };
  }
  return { title: metricTitle(name) };
}
