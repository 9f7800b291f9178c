import { number, percent } from '../components/format.ts';
import { environmentTitle } from '../environments/registry.ts';

export type LineColor = 'chart-ink' | 'chart-1' | 'chart-2' | 'chart-3' | 'chart-4';

export interface LineSpec {
  metric: string;
  label: string;
  color: LineColor;
  /** Few, exact points such as evaluations: shown as points, never smoothed. */
  sparse?: boolean;
  dashed?: boolean;
  /** Metrics of an interval, drawn as a band behind the line. */
  band?: { low: string; high: string };
}

export interface ChartSpec {
  id: string;
  title: string;
  unit: string;
  /** One sentence about what the chart shows. */
  meaning?: string;
  lines: LineSpec[];
  format: (value: number) => string;
  /** Formats ticks, which have less space. Default: `format`. */
  tick?: (value: number) => string;
  /** Bounds of the y axis; without them it follows the values. */
  low?: number;
  high?: number;
  wide?: boolean;
  /** Id of the chart whose target applies if this chart has none. */
  targetOf?: string;
}

const labelColors: LineColor[] = ['chart-1', 'chart-3', 'chart-4', 'chart-2'];
const share = (value: number) => percent(value);

const labelsOf = (names: string[], pattern: RegExp) => names.flatMap((name) => pattern.exec(name)?.[1] ?? []).sort();

/** Returns a run's evaluation labels, each with its color on all charts. */
export function evaluationLabels(names: string[]): { label: string; color: LineColor }[] {
  const labels = labelsOf(names, /^evaluation\/(.+)\/success_rate$/);
  return labels.map((label, index) => ({ label, color: labelColors[index % labelColors.length]! }));
}

/**
 * Returns one line per environment if the run trains on several, otherwise `single`. `suffix` distinguishes
 * the lines from evaluations.
 */
function rolloutLines(names: string[], metric: string, single: LineSpec, suffix = ''): LineSpec[] {
  const labels = labelsOf(names, new RegExp(`^rollout/([^/]+)/${metric}$`));
  if (labels.length === 0) return [single];
  const evaluated = evaluationLabels(names);
  return labels.map((label, index) => ({
    metric: `rollout/${label}/${metric}`,
    label: `${environmentTitle(label)}${suffix}`,
    color: evaluated.find((each) => each.label === label)?.color ?? labelColors[index % labelColors.length]!,
    dashed: true,
  }));
}

/** Only for environments with arms. */
const stdByAction: LineSpec = {
  metric: 'rollout/reward_std_by_action',
  label: 'by action',
  color: 'chart-3',
};

/** Returns the overview charts of a run. `names`: its metrics. */
export function chartSpecs(names: string[]): ChartSpec[] {
  const labels = evaluationLabels(names);
  const evaluations = labels.map(({ label, color }): LineSpec => {
    const metric = `evaluation/${label}/success_rate`;
    return {
      metric,
      label: labels.length > 1 ? environmentTitle(label) : 'evaluation',
      color,
      sparse: true,
      band: { low: `${metric}_low`, high: `${metric}_high` },
    };
  });
  return [
    {
      id: 'success',
      title: 'Success',
      unit: 'share of episodes',
      format: share,
      low: 0,
      high: 1,
      wide: true,
      lines: [
        ...evaluations,
        ...rolloutLines(
          names,
          'success_rate',
          { metric: 'rollout/success_rate', label: 'rollout', color: 'chart-ink' },
          ' rollout',
        ),
      ],
    },
    {
      id: 'reward-mean',
      title: 'Reward',
      unit: 'mean per episode',
      format: number,
      lines: rolloutLines(names, 'reward_mean', {
        metric: 'rollout/reward_mean',
        label: 'mean',
        color: 'chart-ink',
      }),
    },
    {
      id: 'reward-std',
      title: 'Reward std (in-group)',
      unit: 'mean over groups',
      format: number,
      low: 0,
      lines: [
        { metric: 'rollout/reward_std_in_group', label: 'reward std', color: 'chart-ink' },
        ...(names.includes(stdByAction.metric) ? [stdByAction] : []),
        { metric: 'rollout/zero_std_groups', label: 'zero-variance groups', color: 'chart-4', dashed: true },
      ],
    },
    {
      id: 'entropy',
      title: 'Entropy',
      unit: 'nats per token',
      format: number,
      low: 0,
      lines: [
        { metric: 'rollout/entropy', label: 'rollout', color: 'chart-ink' },
        { metric: 'actor/entropy', label: 'update', color: 'chart-3', dashed: true },
      ],
    },
    {
      id: 'gradient-norm',
      title: 'Gradient norm',
      unit: 'before clipping',
      format: number,
      low: 0,
      lines: [
        { metric: 'actor/grad_norm', label: 'mean', color: 'chart-ink' },
        { metric: 'actor/grad_norm_max', label: 'max', color: 'chart-4', dashed: true },
      ],
    },
    {
      id: 'response-length',
      title: 'Response length',
      unit: 'tokens per episode',
      format: number,
      low: 0,
      lines: [{ metric: 'rollout/response_tokens', label: 'sampled', color: 'chart-ink' }],
    },
    {
      id: 'throughput',
      title: 'Throughput',
      unit: 'tokens per second',
      format: number,
      low: 0,
      lines: [
        { metric: 'throughput/generated_tokens_per_second', label: 'generated', color: 'chart-ink' },
        { metric: 'throughput/trained_tokens_per_second', label: 'trained', color: 'chart-3', dashed: true },
      ],
    },
    ...optionalSpecs.filter(({ lines }) => lines.some(({ metric }) => names.includes(metric))),
  ];
}

/** Charts for runs with a critic or a KL term; shown once there is data. */
const optionalSpecs: ChartSpec[] = [
  {
    id: 'explained-variance',
    title: "Critic's explained variance",
    unit: '1 = perfect, 0 = no better than the mean',
    format: number,
    lines: [{ metric: 'critic/explained_variance', label: 'share', color: 'chart-ink' }],
  },
  {
    id: 'critic-value',
    title: "Critic's value",
    unit: 'expected return and loss',
    format: number,
    lines: [
      { metric: 'critic/value_mean', label: 'value', color: 'chart-ink' },
      { metric: 'critic/loss', label: 'loss', color: 'chart-3', dashed: true },
    ],
  },
  {
    id: 'critic-gradient-norm',
    title: "Critic's gradient norm",
    unit: 'before clipping',
    format: number,
    low: 0,
    lines: [{ metric: 'critic/grad_norm', label: 'mean', color: 'chart-ink' }],
  },
  {
    id: 'kl-to-reference',
    title: 'KL to the reference',
    unit: 'nats per token',
    format: number,
    lines: [{ metric: 'actor/kl_to_reference', label: 'estimate', color: 'chart-ink' }],
  },
];

/** Returns the overview charts of a warm start, which has no rollouts: loss, evaluations and the optimizer's metrics. */
export function warmStartSpecs(names: string[]): ChartSpec[] {
  const specs = new Map(chartSpecs(names).map((spec) => [spec.id, spec]));
  const success = specs.get('success')!;
  return [
    { ...success, lines: success.lines.filter(({ sparse }) => sparse) },
    {
      id: 'loss',
      title: 'Loss',
      unit: 'nats per response token',
      format: number,
      low: 0,
      lines: [{ metric: 'warm_start/loss', label: 'mean', color: 'chart-ink' }],
    },
    specs.get('gradient-norm')!,
    specs.get('throughput')!,
  ];
}
