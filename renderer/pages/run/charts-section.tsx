import { useMemo, useState, useSyncExternalStore } from 'react';
import type { RunStatus, RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { type AxisPositions, shapeOf } from '../../charts/axes.ts';
import type { ChartItem } from '../../charts/chart.tsx';
import { type ChartGroup, ChartSections } from '../../charts/chart-sections.tsx';
import { type ChartSpec, chartSpecs, warmStartSpecs } from '../../charts/chart-specs.ts';
import { ChartToolbar } from '../../charts/chart-toolbar.tsx';
import { ChartsView } from '../../charts/charts-view.tsx';
import type { ChartMark } from '../../charts/marks.ts';
import { metricSections } from '../../charts/metric-sections.ts';
import { useChartPreferences } from '../../charts/preferences.ts';
import { successReferences } from '../../charts/references.ts';
import { axesOf, extentOf, positionsOf, type Subject, tracesOf } from '../../charts/subjects.ts';
import { useChartSearch } from '../../charts/use-search.ts';
import { Empty } from '../../components/basics.tsx';
import { CompareWith } from '../../components/compare-with.tsx';
import { chartMarks } from '../../views/chart-marks.ts';
import { useRun } from '../../views/run-view.tsx';
import { type Parent, useForks, useParent } from '../../views/use-parent.ts';
import { EvaluationFigures } from './evaluation-figures.tsx';
import { LatestIteration } from './latest-iteration.tsx';

/** Charts of all metrics in the run's journal. */
export function ChartsSection({ run }: { run: RunSummary }) {
  const series = useRun((state) => state.series);
  const loaded = useRun((state) => state.loaded);
  // Metric names change a few times per run, values all the time.
  const names = useSyncExternalStore(series.subscribe, () => series.names().sort().join('\n'));
  const axis = useChartPreferences((state) => state.axis);
  if (!loaded) return <Empty title="Loading the charts…" />;
  if (names === '') return <NoMetrics status={run.status} />;
  return (
    // A zoom range is valid for one axis only.
    <ChartsView key={axis}>
      <Charts run={run} names={names} />
    </ChartsView>
  );
}

function Charts({ run, names }: { run: RunSummary; names: string }) {
  const parent = useParent(run);
  const [withParent, setWithParent] = useState(true);
  const search = useChartSearch();
  const { axis, axes, groups, positions } = useGroups(run, names, withParent ? parent : null);
  const marks = useMarks(run, parent, positions);
  return (
    <section aria-label="Charts">
      <ChartToolbar axis={axis} axes={axes} search={search}>
        {parent && (
          <button
            type="button"
            className="toggle"
            aria-pressed={withParent}
            title={`Draw ${parent.name} as a faint line`}
            onClick={() => setWithParent(!withParent)}
          >
            Show parent run
          </button>
        )}
        <CompareWith runId={run.id} />
      </ChartToolbar>
      <ChartSections groups={groups} marks={marks} matches={search.matches} subtitle={run.name} />
    </section>
  );
}

/** Returns the run's overview charts, followed by one section per metric prefix. */
function useGroups(run: RunSummary, names: string, behind: Parent | null) {
  const series = useRun((state) => state.series);
  const config = useRun((state) => state.config);
  const humans = useRun((state) => state.humanSuccess);
  const preferredAxis = useChartPreferences((state) => state.axis);
  const { id, name, task } = run;
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
    const itemOf = (spec: ChartSpec): ChartItem => ({
      spec,
      traces: tracesOf(spec, positions),
      axis,
      extent,
      ...(spec.id === 'success' && {
        references: successReferences(config, series, humans),
        headline: <EvaluationFigures runId={id} series={series} />,
      }),
    });
    const specs = (task === 'warm_start' ? warmStartSpecs : chartSpecs)(all);
    // A live run may still produce the metrics that are missing.
    const overview = specs.filter(({ lines }) => live || lines.some(({ metric }) => all.includes(metric)));
    const groups: ChartGroup[] = [
      {
        id: 'overview',
        title: 'Overview',
        items: overview.map(itemOf),
        extra: <LatestIteration series={series} live={live} />,
      },
      ...metricSections(all).map((section) => ({ ...section, items: section.charts.map(itemOf) })),
    ];
    return { axis, axes, groups, positions: positions.get(subject)! };
  }, [id, name, task, live, series, config, humans, names, preferredAxis, behind]);
}

/** Returns the run's alerts and forks as marks on the current axis. */
function useMarks(run: RunSummary, parent: Parent | null, positions: AxisPositions): ChartMark[] {
  const alerts = useRun((state) => state.alerts);
  const forks = useForks(run.id);
  // Run summaries arrive several times per second; marks change a few times per run.
  const marked = JSON.stringify(chartMarks(alerts, run, parent ?? undefined, forks));
  return useMemo(
    () => (JSON.parse(marked) as ChartMark[]).map((mark) => ({ ...mark, positions })),
    [marked, positions],
  );
}

function NoMetrics({ status }: { status: RunStatus }) {
  const [title, text] = isLive(status)
    ? ['Waiting for the first metrics', 'The initial policy is evaluated first. Training starts after that.']
    : status === 'queued'
      ? ['Queued', 'The run starts automatically when the runs before it have ended.']
      : status === 'created'
        ? ['Not started yet', 'Press Start. Charts appear as soon as there are metrics.']
        : ['No metrics', 'This run ended before its first evaluation.'];
  return (
    <div className="panel chart-waiting">
      <Empty title={title}>{text}</Empty>
    </div>
  );
}
