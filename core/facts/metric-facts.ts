import { metricTitle } from '../contract/metric-titles.ts';
import { typeTitle } from '../presets/environment-words.ts';
import description from '../run-directory/description.json' with { type: 'json' };

/** Title, unit and meaning of a metric. */
export interface MetricFacts {
  title: string;
  /** `share`, `nats`, `tokens`, ...; empty if there is none, or for an unknown metric. */
  unit: string;
  /** As in docs/formats/metrics.md; empty for an unknown metric. */
  meaning: string;
}

const metrics = new Map(description.metrics.map((metric) => [metric.name, metric]));
const evaluationMetrics = new Map(description.evaluationMetrics.map((metric) => [metric.name, metric]));

/** Names of the documented metrics, without those per turn, action or evaluation set. */
export const metricNames: readonly string[] = [...metrics.keys()].filter((name) => !name.includes('<'));

/** Looks up a metric by name. Metrics of one environment or evaluation set have the facts of the name without the label. */
export function metricFacts(name: string): MetricFacts {
  const [group, label = '', ...rest] = name.split('/');
  const last = rest.join('/');
  if (!metrics.has(name) && last && group === 'evaluation')
    return facts(evaluationMetrics.get(last), `${metricTitle(`rollout/${last}`)}, ${typeTitle(label)}`);
  if (!metrics.has(name) && last && group === 'rollout') {
    const family = [...metrics].find(([pattern]) => pattern.startsWith(`rollout/${label}/<`));
    return family
      ? facts(family[1], metricTitle(name))
      : facts(metrics.get(`rollout/${last}`), `${metricTitle(`rollout/${last}`)}, ${typeTitle(label)}`);
  }
  return facts(metrics.get(name), metricTitle(name));
}

const facts = (described: { unit: string; meaning: string } | undefined, title: string): MetricFacts => ({
  title,
  unit: described?.unit ?? '',
  meaning: described?.meaning ?? '',
});
