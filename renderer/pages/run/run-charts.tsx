import { useMemo } from 'react';
import type { PanelHash, RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { type AxisPositions, shapeOf } from '../../charts/axes.ts';
import type { ChartItem } from '../../charts/chart.tsx';
import type { ChartGroup } from '../../charts/chart-sections.tsx';
import { type ChartSpec, chartSpecs, warmStartSpecs } from '../../charts/chart-specs.ts';
import type { ChartMark } from '../../charts/marks.ts';
import { metricSections } from '../../charts/metric-sections.ts';
import { withPanels } from '../../charts/panels.ts';
import { useChartPreferences } from '../../charts/preferences.ts';
import { successReferences } from '../../charts/references.ts';
import { axesOf, extentOf, positionsOf, type Subject, tracesOf } from '../../charts/subjects.ts';
import { describeEvaluation, describeRollout, temperatureText } from '../../components/measured-how.ts';
import { chartMarks } from '../../views/chart-marks.ts';
import { useRun } from '../../views/run-view.tsx';
import { type Parent, useForks } from '../../views/use-parent.ts';
import { EvaluationFigures } from './evaluation-figures.tsx';
import { LatestIteration } from './latest-iteration.tsx';

/** Returns the run's overview charts, followed by one section per metric prefix, and the axes to choose from. */
export function useGroups(run: RunSummary, names: string, behind: Parent | null) {
  const series = useRun((state) => state.series);
  const config = useRun((state) => state.config);
  const humans = useRun((state) => state.humanSuccess);
  const preferredAxis = useChartPreferences((state) => state.axis);
  const { id, name, task } = run;
  // Each notice has a new list.
  const panelKey = JSON.stringify(run.panels);
  const panels = useMemo((): PanelHash[] => JSON.parse(panelKey), [panelKey]);
  const live = isLive(run.status);
  return useMemo(() => {
    const all = names.split('\n');
    const subject: Subject = { id, label: name, source: series, shape: shapeOf(config) };
    const axes = axesOf([subject]);
    const axis = axes.includes(preferredAxis) ? preferredAxis : 'iteration';
    // Only the iteration axis works for the parent: its episodes and tokens depend on its own configuration,
    // which isn't loaded.
    const subjects: Subject[] =
      behind && axis === 'iteration'
        ? [
            {
              id: behind.id,
              label: behind.name,
              source: behind.series,
              shape: subject.shape,
              faint: true,
            },
            subject,
          ]
        : [subject];
    const positions = positionsOf(subjects, axis);
    const extent = extentOf(positions, axis);
    const itemOf = (plain: ChartSpec): ChartItem => {
      const spec = withPanels(plain, panels);
      return {
        spec,
        traces: tracesOf(spec, positions),
        axis,
        extent,
        ...(spec.id === 'success' && {
          references: successReferences(config, series, humans),
          headline: <EvaluationFigures runId={id} series={series} />,
        }),
      };
    };
    const specs = (task === 'warm_start' ? warmStartSpecs : chartSpecs)(all).map((spec) =>
      spec.id === 'success' ? withTemperatures(spec, config) : spec,
    );
    // A live run may still produce the metrics that are missing.
    const overview = specs.filter(({ lines }) => live || lines.some(({ metric }) => all.includes(metric)));
    const groups: ChartGroup[] = [
      {
        id: 'overview',
        title: 'Overview',
        items: overview.map(itemOf),
        extra: <LatestIteration series={series} expecting={live} />,
      },
      ...metricSections(all).map((section) => ({ ...section, items: section.charts.map(itemOf) })),
    ];
    return { axis, axes, groups, positions: positions.get(subject)! };
  }, [id, name, task, live, series, config, panels, humans, names, preferredAxis, behind]);
}

/** Adds the sampling temperatures to the labels, because evaluations and rollouts differ in them. */
function withTemperatures(spec: ChartSpec, config: unknown): ChartSpec {
  const label = (text: string, temperature: string) => (temperature === '' ? text : `${text} (${temperature})`);
  return {
    ...spec,
    meaning: `Share of solved episodes: ${describeEvaluation(config)} and ${describeRollout(config)}.`,
    lines: spec.lines.map((line) => ({
      ...line,
      label: label(line.label, temperatureText(config, line.sparse ? 'evaluation' : 'rollout')),
    })),
  };
}

/** Returns the run's alerts and forks as marks on the current axis. */
export function useMarks(run: RunSummary, parent: Parent | null, positions: AxisPositions): ChartMark[] {
  const alerts = useRun((state) => state.alerts);
  const forks = useForks(run.id);
  // Run summaries arrive several times per second; marks change a few times per run.
  const marked = JSON.stringify(chartMarks(alerts, run, parent ?? undefined, forks));
  return useMemo(
    () => (JSON.parse(marked) as ChartMark[]).map((mark) => ({ ...mark, positions })),
    [marked, positions],
  );
}
