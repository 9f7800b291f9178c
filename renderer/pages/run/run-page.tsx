import { type RunSummary, sampleRunId } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import type { RunTab } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Empty, ErrorNote } from '../../components/basics.tsx';
import { tabsOf } from '../../components/run-tabs.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { ChartsSection } from './charts-section.tsx';
import { CheckpointsTab } from './checkpoints-tab.tsx';
import { ConfigurationTab } from './configuration-tab.tsx';
import { EpisodesTab } from './episodes-tab.tsx';
import { JobPanel } from './job-panel.tsx';
import { LogPanel } from './log-panel.tsx';
import { Overview } from './overview.tsx';
import { RunHeader } from './run-header.tsx';
import { RunTabs } from './run-tabs.tsx';
import { SampleHeader } from './sample-header.tsx';

/** Shows a run in tabs. Must be inside a RunView. */
export function RunPage({ tab = 'overview' }: { tab?: RunTab }) {
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
  const shown = tabsOf(run).includes(tab) ? tab : 'overview';
  return (
    <div className="page run-page">
      {runId === sampleRunId ? <SampleHeader run={run} /> : <RunHeader run={run} />}
      {run.job && <JobPanel run={run} job={run.job} />}
      <RunTabs run={run} tab={shown}>
        <TabContent run={run} tab={shown} />
      </RunTabs>
    </div>
  );
}

function TabContent({ run, tab }: { run: RunSummary; tab: RunTab }) {
  switch (tab) {
    case 'overview':
      return <Overview run={run} />;
    case 'charts':
      return <ChartsSection run={run} />;
    case 'episodes':
      return <EpisodesTab run={run} />;
    case 'checkpoints':
      return <CheckpointsTab run={run} />;
    case 'log':
      return <LogPanel />;
    case 'configuration':
      return <ConfigurationTab run={run} />;
  }
}
