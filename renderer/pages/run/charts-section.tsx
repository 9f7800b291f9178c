import { type ReactNode, useState, useSyncExternalStore } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { hasActiveJob, isLive } from '../../../core/contract/run-facts.ts';
import { ChartSections } from '../../charts/chart-sections.tsx';
import { ChartToolbar } from '../../charts/chart-toolbar.tsx';
import { ChartsView } from '../../charts/charts-view.tsx';
import { useChartPreferences } from '../../charts/preferences.ts';
import { useChartSearch } from '../../charts/use-search.ts';
import { Empty } from '../../components/basics.tsx';
import { CompareWith } from '../../components/compare-with.tsx';
import { useRun } from '../../views/run-view.tsx';
import { useParent } from '../../views/use-parent.ts';
import { Rewards } from './rewards.tsx';
import { useGroups, useMarks } from './run-charts.tsx';
import { Timeline } from './timeline.tsx';

/** Shows charts of all metrics in the run's journal. */
export function ChartsSection({ run }: { run: RunSummary }) {
  return <WithMetrics run={run}>{(names) => <Charts run={run} names={names} />}</WithMetrics>;
}

interface WithMetricsProps {
  run: RunSummary;
  /** Receives the metric names, one per line. */
  children: (names: string) => ReactNode;
}

/** Renders charts once the run has metrics, and what the run waits for until then. The charts share their zoom. */
export function WithMetrics({ run, children }: WithMetricsProps) {
  const series = useRun((state) => state.series);
  const loaded = useRun((state) => state.loaded);
  // Metric names change a few times per run, values all the time.
  const names = useSyncExternalStore(series.subscribe, () => series.names().sort().join('\n'));
  const axis = useChartPreferences((state) => state.axis);
  if (!loaded) return <Empty title="Loading the charts…" />;
  if (names === '') return <NoMetrics run={run} />;
  // A zoom range is valid for one axis only.
  return <ChartsView key={axis}>{children(names)}</ChartsView>;
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
      <Rewards runId={run.id} />
      <Timeline runId={run.id} newest={run.iteration} />
    </section>
  );
}

function NoMetrics({ run }: { run: RunSummary }) {
  const { status, job } = run;
  const [title, text] = isLive(status)
    ? ['Waiting for the first metrics', 'Metrics appear after the first evaluation or iteration.']
    : job && hasActiveJob(run)
      ? [`Submitted to ${job.target}`, 'Charts appear when the job has started and there are metrics.']
      : status === 'queued'
        ? ['Queued', 'The run starts automatically when its device is free.']
        : status === 'created'
          ? ['Not started yet', 'Press Start. Charts appear as soon as there are metrics.']
          : ['No metrics', 'This run ended before its first evaluation.'];
  return (
    <div className="panel chart-waiting">
      <Empty title={title}>{text}</Empty>
    </div>
  );
}
