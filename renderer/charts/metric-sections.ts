import { type MetricFacts, metricFacts } from '../../core/facts/metric-facts.ts';
import { duration, gigabytes, number, percent } from '../components/format.ts';
import { environmentTitle } from '../environments/registry.ts';
import { type ChartSpec, evaluationLabels, type LineColor, type LineSpec } from './chart-specs.ts';

interface MetricSection {
  id: string;
  title: string;
  charts: ChartSpec[];
}

/** Echo Trap metrics that the overview doesn't show. */
const echoTrap =
  /^(diagnostics\/|advantage\/zero_std_share$|rollout\/(template_share|thought_likeness_\w+|common_opening_share|repeated_ngrams|distinct_first_thoughts|empty_think_rate|think_entropy|answer_entropy|first_action_\w+|zero_std_\w+)$)/;

/** In display order. Other metrics form a section per prefix. */
const sections: readonly (readonly [id: string, title: string, pattern: RegExp])[] = [
  ['echo-trap', 'Echo Trap', echoTrap],
  ['evaluation', 'Evaluations', /^evaluation\//],
  ['rollout', 'Rollouts', /^rollout\//],
  ['advantage', 'Groups and advantages', /^(filter|advantage)\//],
  ['actor', 'Policy update', /^actor\//],
  ['critic', 'Critic', /^critic\//],
  ['warm-start', 'Warm start', /^warm_start\//],
  ['time', 'Time', /^time\//],
  ['machine', 'Throughput and memory', /^(throughput|memory)\//],
];

/** Returns a chart per metric, grouped into sections. Metrics of a family share a chart. */
export function metricSections(names: readonly string[]): MetricSection[] {
  const byId = new Map<string, MetricSection>();
  for (const [id, title] of sections) byId.set(id, { id, title, charts: [] });
  for (const { name, members } of familiesOf(names)) {
    const prefix = name.includes('/') ? name.slice(0, name.indexOf('/')) : 'other';
    const [id, title] = sections.find(([, , pattern]) => pattern.test(name)) ?? [prefix, prefix.replaceAll('_', ' ')];
    const section = byId.get(id) ?? { id, title, charts: [] };
    byId.set(id, section);
    section.charts.push(members ? familySpec(name, members) : metricSpec(name, names));
  }
  return [...byId.values()].filter(({ charts }) => charts.length > 0);
}

/** Titles of metric families, such as the shares of all actions. */
const familyTitles: Readonly<Record<string, string>> = {
  'rollout/action_share': 'Action shares',
  'rollout/entropy_by_turn': 'Entropy by turn',
  'rollout/reward_term': 'Reward terms',
};
const family = new RegExp(`^(${Object.keys(familyTitles).join('|')})/(.+)$`);
/** Bounds of an interval, drawn around its value. */
const intervalEnd = /^evaluation\/.+\/success_rate_(low|high)$/;

function familiesOf(names: readonly string[]): { name: string; members?: string[] }[] {
  const families = new Map<string, string[]>();
  const entries: { name: string; members?: string[] }[] = [];
  for (const name of names.toSorted()) {
    if (name === '' || intervalEnd.test(name)) continue;
    const prefix = family.exec(name)?.[1];
    const members = prefix === undefined ? undefined : families.get(prefix);
    if (members) members.push(name);
    else if (prefix === undefined) entries.push({ name });
    else {
      const first = [name];
      families.set(prefix, first);
      entries.push({ name: prefix, members: first });
    }
  }
  return entries;
}

const memberColors: LineColor[] = ['chart-ink', 'chart-1', 'chart-3', 'chart-4', 'chart-2'];

function familySpec(name: string, members: readonly string[]): ChartSpec {
  const { unit, meaning } = metricFacts(members[0]!);
  const title = familyTitles[name]!;
  const lines = members.map(
    (metric, index): LineSpec => ({
      metric,
      label: metric.slice(name.length + 1).replaceAll('_', ' '),
      color: memberColors[index % memberColors.length]!,
      dashed: index >= memberColors.length,
    }),
  );
  return {
    id: name,
    title,
    unit: unitText(unit, title),
    meaning,
    format: formatOf(unit),
    ...boundsOf(name, unit),
    lines,
  };
}

/** Returns the chart of one metric. `names`: all metrics, for the bounds of an interval. */
export function metricSpec(metric: string, names: readonly string[]): ChartSpec {
  const { title, unit, meaning } = metricFacts(metric);
  const isEvaluation = metric.startsWith('evaluation/');
  const band = { low: `${metric}_low`, high: `${metric}_high` };
  const line: LineSpec = {
    metric,
    label: title,
    color: isEvaluation ? 'chart-1' : 'chart-ink',
    ...(isEvaluation && { sparse: true }),
    ...(isEvaluation && names.includes(band.low) && names.includes(band.high) && { band }),
  };
  return {
    id: metric,
    title,
    unit: unitText(unit, title),
    meaning,
    format: formatOf(unit),
    ...(unit === 's' && { tick: (value) => `${number(value)} s` }),
    ...boundsOf(metric, unit),
    lines: [line],
  };
}

/** Returns the unit, or an empty text if the title or the numbers already have it. */
const unitText = (unit: MetricFacts['unit'], title: string) =>
  ['share', 'bytes', 's'].includes(unit) || title.toLowerCase().includes(unit) ? '' : unit;

/** Formats a value of a metric with its unit, such as `62.5 %` or `0.268 nats`. */
export function metricValue(metric: string, value: number): string {
  const { unit } = metricFacts(metric);
  return ['nats', 'tokens', 'turns', 'actions'].includes(unit) ? `${number(value)} ${unit}` : formatOf(unit)(value);
}

function formatOf(unit: string): (value: number) => string {
  switch (unit) {
    case 'share':
      return (value) => percent(value);
    case 'bytes':
      return gigabytes;
    case 's':
      return (value) => (value < 60 ? `${number(value)} s` : duration(value));
    default:
      return number;
  }
}

const nonNegativeUnits = ['share', 'bytes', 's', 'tokens', 'tokens/s', 'turns', 'actions', 'groups'];

/** Starts the axis of non-negative metrics at 0. Explained variance may be negative. */
const boundsOf = (metric: string, unit: string): Pick<ChartSpec, 'low'> =>
  nonNegativeUnits.includes(unit) && metric !== 'critic/explained_variance' ? { low: 0 } : {};

const comparedMetrics = [
  'rollout/success_rate',
  'rollout/reward_mean',
  'rollout/reward_std_in_group',
  'rollout/entropy',
  'actor/grad_norm',
  'rollout/response_tokens',
  'critic/explained_variance',
  'warm_start/loss',
  'time/iteration',
];

/** Returns the main charts of a comparison: one metric each, with a line per run. */
export function compareSpecs(names: readonly string[]): ChartSpec[] {
  const labels = evaluationLabels([...names]);
  const success = { low: 0, high: 1 };
  return [
    ...labels.map(({ label }) => ({
      ...metricSpec(`evaluation/${label}/success_rate`, names),
      title: labels.length > 1 ? `Success in ${environmentTitle(label)} (evaluation)` : 'Success (evaluation)',
      ...success,
      targetOf: 'success',
    })),
    ...comparedMetrics
      .filter((metric) => names.includes(metric))
      .map((metric) => ({
        ...metricSpec(metric, names),
        ...(metric === 'rollout/success_rate' && { title: 'Success (rollout)', ...success }),
      })),
  ];
}
