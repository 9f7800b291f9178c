import { sampleRunId } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Empty, ErrorNote } from '../../components/basics.tsx';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { Wall } from '../../wall/wall.tsx';
import { ChartsSection } from './charts-section.tsx';
import { CheckpointsPanel } from './checkpoints-panel.tsx';
import { ConfigPanel } from './config-panel.tsx';
import { EchoTrapPanel } from './echo-trap/echo-trap-panel.tsx';
import { EvaluationsSection } from './evaluations/evaluations-section.tsx';
import { Family } from './family.tsx';
import { Finish } from './finish.tsx';
import { FirstStepCheck } from './first-step-check.tsx';
import { LogPanel } from './log-panel.tsx';
import { MemoryPanel } from './memory-panel.tsx';
import { RunHeader } from './run-header.tsx';
import { RunNotices } from './run-notices.tsx';
import { SampleHeader } from './sample-header.tsx';

/** Must be inside a RunView. */
export function RunPage() {
  const runId = useRun((state) => state.runId);
  const run = useRunSummary(runId);
  const name = run?.name;
  const problem = useRun((state) => state.problem);
  const done = run && isLive(run.status) ? `${run.iteration}/${run.iterations} · ` : '';
  useTitle(name ? `${done}${name}` : null);

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
  if (runId === sampleRunId) {
    return (
      <div className="page run-page">
        <SampleHeader run={run} />
        <Finish run={run} />
        <Wall run={run} />
        <EchoTrapPanel run={run} />
        <ChartsSection run={run} />
        <LogPanel />
        <ConfigPanel />
      </div>
    );
  }
  return (
    <div className="page run-page">
      <div>
        <RunHeader run={run} />
        <Family run={run} />
      </div>
      <Finish run={run} />
      <Wall run={run} />
      <RunNotices run={run} />
      <EchoTrapPanel run={run} />
      <ChartsSection run={run} />
      {run.status !== 'created' && <EvaluationsSection run={run} />}
      <CheckpointsPanel run={run} />
      <FirstStepCheck />
      <LogPanel />
      <MemoryPanel />
      <ConfigPanel />
      <p className="muted">
        <a href={formatRoute({ page: 'export', runId })}>Export this run</a> as CSV, Parquet, TensorBoard events, a
        Hugging Face folder or a paragraph for a paper.
      </p>
    </div>
  );
}
