import description from '../run-directory/description.json' with { type: 'json' };
import { metricTitle } from './metric-titles.ts';

/** What is known of a metric by its name. */
export interface MetricFacts {
  /** Short, and begins with a capital letter. */
  title: string;
  /** `share`, `nats`, `tokens`, ...; empty where it has none, or isn't known. */
  unit: string;
  /** As docs/formats/metrics.md has it; empty for one that the trainer of this version doesn't write. */
  meaning: string;
}

const known = new Map(description.metrics.map((metric) => [metric.name, metric]));
const ofEvaluations = new Map(description.evaluationMetrics.map((metric) => [metric.name, metric]));

export function metricFacts(name: string): MetricFacts {
  const { title, unit = '', meaning = '' } = found(name);
  return { title: `${title.charAt(0).toUpperCase()}${title.slice(1)}`, unit, meaning };
}

/** A metric of an environment or of an evaluation set is the one whose name it has without the label. */
function found(name: string): { title: string; unit?: string; meaning?: string } {
  const exact = known.get(name);
  if (exact) return { ...exact, title: metricTitle(name) };
  const [group, label = '', ...rest] = name.split('/');
  const last = rest.join('/');
  if (group === 'evaluation' && last)
    return { ...ofEvaluations.get(last), title: `${metricTitle(`rollout/${last}`)}, ${label}` };
  if (group === 'rollout' && last) {
    const member = [...known].find(([pattern]) => pattern.startsWith(`rollout/${label}/<`));
    if (member) return { ...member[1], title: `${label.replaceAll('_', ' ')}: ${last.replaceAll('_', ' ')}` };
    return { ...known.get(`rollout/${last}`), title: `${metricTitle(`rollout/${last}`)}, ${label}` };
  }
  return { title: metricTitle(name) };
}
