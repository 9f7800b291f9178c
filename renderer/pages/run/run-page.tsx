import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { RunStatus, RunSummary } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { Chart } from '../../charts/chart.tsx';
import { chartSpecs, warmStartSpecs } from '../../charts/chart-specs.ts';
import type { ChartMark } from '../../charts/marks.ts';
import { useChartPreferences } from '../../charts/preferences.ts';
import { Button, Empty, ErrorNote } from '../../components/basics.tsx';
import { isLive } from '../../components/run-facts.ts';
import { formatRoute } from '../../router.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { ChartsView, useCharts } from '../../views/charts-view.tsx';
import { useRun } from '../../views/run-view.tsx';
import { useForks, useParent } from '../../views/use-parent.ts';
import { chartMarks } from './chart-marks.ts';
import { ConfigPanel } from './config-panel.tsx';
import { EchoTrapPanel } from './echo-trap/echo-trap-panel.tsx';
import { EvaluationCards } from './evaluation-cards.tsx';
import { EvaluationsSection } from './evaluations/evaluations-section.tsx';
import { Family } from './family.tsx';
import { LatestIteration } from './latest-iteration.tsx';
import { LogPanel } from './log-panel.tsx';
import { MemoryPanel } from './memory-panel.tsx';
import { RunHeader } from './run-header.tsx';
import { RunNotices } from './run-notices.tsx';

/** Inside the run's view. */
export function RunPage() {
  const runId = useRun((state) => state.runId);
  const run = useRunSummary(runId);
  const name = run?.name;
  const problem = useRun((state) => state.problem);
  const done = run && isLive(run.status) ? `${Math.floor((100 * run.iteration) / run.iterations)} % · ` : '';
  useEffect(() => {
    if (name) document.title = `${done}${name} · StarPO Studio`;
  }, [name, done]);

  if (problem) {
    return (
      <div className="page">
        <h1>Run</h1>
        <ErrorNote error={asFailure(problem).toApiError()} />
      </div>
    );
  }
  if (!run) {
    return (
      <div className="page">
        <h1 className="visually-hidden">Run</h1>
        <Empty title="Loading the run…" />
      </div>
    );
  }
  return (
    <div className="page run-page">
      <div>
        <RunHeader run={run} />
        <Family run={run} />
      </div>
      <RunNotices run={run} />
      <EchoTrapPanel run={run} />
      <ChartsView>
        <Charts run={run} />
      </ChartsView>
      {run.status !== 'created' && <EvaluationsSection run={run} />}
      <LogPanel />
      <MemoryPanel />
      <ConfigPanel />
      <p className="muted">
        <a href={formatRoute({ page: 'export', runId })}>Export this run</a> as CSV, Parquet, TensorBoard
        events, a Hugging Face folder or a paragraph for a paper.
      </p>
    </div>
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
