import { useMemo, useState, useSyncExternalStore } from 'react';
import type { RunStatus, RunSummary } from '../../../core/contract/contract.ts';
import { Chart } from '../../charts/chart.tsx';
import { chartSpecs, warmStartSpecs } from '../../charts/chart-specs.ts';
import type { ChartMark } from '../../charts/marks.ts';
import { useChartPreferences } from '../../charts/preferences.ts';
import { Button, Empty } from '../../components/basics.tsx';
import { isLive } from '../../components/run-facts.ts';
import { ChartsView, useCharts } from '../../views/charts-view.tsx';
import { useRun } from '../../views/run-view.tsx';
import { useForks, useParent } from '../../views/use-parent.ts';
import { chartMarks } from './chart-marks.ts';
import { EvaluationCards } from './evaluation-cards.tsx';
import { LatestIteration } from './latest-iteration.tsx';

/** Everything that the run's journal measures, over its iterations. */
export function ChartsSection({ run }: { run: RunSummary }) {
  return (
    <ChartsView>
      <Charts run={run} />
    </ChartsView>
  );
}

function Charts({ run }: { run: RunSummary }) {
  const series = useRun((state) => state.series);
  const loaded = useRun((state) => state.loaded);
  const alerts = useRun((state) => state.alerts);
  const parent = useParent(run);
  const forks = useForks(run.id);
  const [withParent, setWithParent] = useState(true);
  // Runs are told of several times a second; what is marked changes a handful of times.
  const marked = JSON.stringify(chartMarks(alerts, run, parent?.run, forks));
  const marks = useMemo<ChartMark[]>(() => JSON.parse(marked), [marked]);
  const { zoom, cursor, setZoom } = useCharts((state) => state);
  const { smoothing, toggleSmoothing } = useChartPreferences();
  // The set of metrics changes a handful of times in a run, its values all the time.
  const names = useSyncExternalStore(series.subscribe, () => series.names().sort().join('\n'));
  const specs = useMemo(
    () => (run.task === 'warm_start' ? warmStartSpecs : chartSpecs)(names.split('\n')),
    [run.task, names],
  );

  if (!loaded) return <Empty title="Loading the charts…" />;
  if (names === '') return <NoValues status={run.status} />;
  return (
    <section aria-label="Charts">
      <div className="chart-tools">
        <h2>Metrics</h2>
        <span className="faint" aria-live="off">
          {cursor === null ? 'by iteration' : `at iteration ${cursor}`}
        </span>
        <span className="spacer" />
        {zoom ? (
          <Button kind="quiet" icon="reset" onClick={() => setZoom(null)}>
            Iterations {zoom.min} to {zoom.max}
          </Button>
        ) : (
          <span className="faint chart-tip">Drag across a chart to zoom</span>
        )}
        {parent && (
          <button
            type="button"
            className="toggle"
            aria-pressed={withParent}
            title={`${parent.run.name}, drawn faint`}
            onClick={() => setWithParent(!withParent)}
          >
            Parent, faint
          </button>
        )}
        <button type="button" className="toggle" aria-pressed={smoothing > 0} onClick={toggleSmoothing}>
          Smooth
        </button>
      </div>
      <EvaluationCards runId={run.id} series={series} />
      <div className="chart-grid">
        {specs.map((spec) => (
          <Chart
            key={spec.id}
            spec={spec}
            series={series}
            parent={withParent ? parent?.series : null}
            marks={marks}
          />
        ))}
        <LatestIteration series={series} />
      </div>
    </section>
  );
}

function NoValues({ status }: { status: RunStatus }) {
  const [title, text] = isLive(status)
    ? [
        'Waiting for the first values',
        'The starting policy is evaluated first; the first training iteration follows.',
      ]
    : status === 'queued'
      ? ['Waiting for its turn', 'It starts by itself when the runs before it have ended.']
      : status === 'created'
        ? ['Not started yet', 'Press Start, and the charts fill as the policy learns.']
        : ['No values', 'This run ended before its first evaluation.'];
  return (
    <div className="panel chart-waiting">
      <Empty title={title}>{text}</Empty>
    </div>
  );
}
