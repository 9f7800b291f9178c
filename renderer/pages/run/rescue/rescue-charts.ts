import { shapeOf } from '../../../charts/axes.ts';
import type { ChartItem } from '../../../charts/chart.tsx';
import { type ChartSpec, evaluationLabels } from '../../../charts/chart-specs.ts';
import type { ChartMark } from '../../../charts/marks.ts';
import { metricSpec } from '../../../charts/metric-sections.ts';
import type { Reference } from '../../../charts/references.ts';
import type { SeriesSource } from '../../../charts/series-source.ts';
import { extentOf, positionsOf, type Subject, tracesOf } from '../../../charts/subjects.ts';
import { percent } from '../../../components/format.ts';
import { alertMark } from '../../../views/chart-marks.ts';
import { type Story, sideTitles } from './story.ts';

interface Shown {
  before: SeriesSource;
  /** Null if the run that continues was deleted. */
  after: SeriesSource | null;
  /** run.json of the run that was rolled back. */
  config: unknown;
  /** All metrics. */
  names: readonly string[];
  /** The metric of the warning and its baseline; null if unknown. */
  evidence: string | null;
  baseline: number | null;
}

/** Returns the charts of a rescue: success and the metric of the warning, each with both runs. */
export function rescueCharts({ before, after, config, names, evidence, baseline }: Shown): ChartItem[] {
  const shape = shapeOf(config);
  const subjects: Subject[] = [
    { ...{ id: 'before', label: sideTitles[0], color: 'chart-2' }, source: before, shape },
    ...(after ? [{ ...{ id: 'after', label: sideTitles[1], color: 'chart-1' }, source: after, shape }] : []),
  ];
  const positions = positionsOf(subjects, 'iteration');
  const extent = extentOf(positions, 'iteration');
  const itemOf = (spec: ChartSpec, references: Reference[] = []): ChartItem => ({
    ...{ spec, references, extent },
    traces: tracesOf(spec, positions),
    axis: 'iteration',
  });
  const success = itemOf(successSpec(names));
  if (evidence === null || evidence === successMetric || !names.includes(evidence)) return [success];
  return [
    success,
    itemOf(metricSpec(evidence, names), baseline === null ? [] : [{ value: baseline, label: 'baseline' }]),
  ];
}

const successMetric = 'rollout/success_rate';

function successSpec(names: readonly string[]): ChartSpec {
  const labels = evaluationLabels([...names]);
  return {
    id: 'rescue-success',
    title: 'Success',
    unit: 'share of episodes',
    format: (value) => percent(value),
    ...{ low: 0, high: 1 },
    lines: [
      { metric: successMetric, label: 'rollout', color: 'chart-ink' },
      ...labels.map(({ label, color }) => ({
        metric: `evaluation/${label}/success_rate`,
        label: labels.length > 1 ? `evaluation on ${label}` : 'evaluation',
        color,
        sparse: true,
      })),
    ],
  };
}

/** Returns the marks of the warning and of the roll-back. */
export function rescueMarks({
  warning,
  from,
  checkpoint,
}: Pick<Story, 'warning' | 'from' | 'checkpoint'>): ChartMark[] {
  const rollBack: ChartMark = {
    id: 'roll-back',
    iteration: checkpoint,
    tone: 'fork',
    title: `Rolled back from iteration ${from} to ${checkpoint}`,
    text: '',
    label: `Checkpoint ${checkpoint}`,
  };
  return warning ? [{ ...alertMark(warning), label: `Warning at ${warning.iteration}` }, rollBack] : [rollBack];
}
