import { type RunSummary, sampleRunId } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { useRun, useSeries } from '../../views/run-view.tsx';
import { Wall } from '../../wall/wall.tsx';
import { EchoTrapPanel } from './echo-trap/echo-trap-panel.tsx';
import { FinishClip } from './finish-clip.tsx';
import { FirstStepCheck } from './first-step-check.tsx';
import { LatestIteration } from './latest-iteration.tsx';
import { NextIdeas, Outcome } from './outcome-panel.tsx';
import styles from './overview.module.css';
import { OverviewCharts } from './overview-charts.tsx';
import { RecentEvents } from './recent-events.tsx';
import { RunNotices } from './run-notices.tsx';

/** Height of the boards in CSS pixels, so that the panel is as high as the charts beside it. */
const wallHeight = 410;

/** Shows the state of a run in one screen: problems, result, verdict of the Echo Trap monitor, main charts and boards. */
export function Overview({ run }: { run: RunSummary }) {
  const series = useSeries();
  const rollouts = useRun((state) => state.rollouts);
  const loaded = useRun((state) => state.loaded);
  const live = isLive(run.status);
  const hasBoards = rollouts.length > 0 || live || run.status === 'created' || run.status === 'queued';
  return (
    <>
      {run.id !== sampleRunId && <RunNotices run={run} />}
      <Outcome run={run} />
      <EchoTrapPanel run={run} />
      <div className={styles.main} data-boards={hasBoards || undefined}>
        <OverviewCharts run={run} />
        {hasBoards && <Wall run={run} height={wallHeight} />}
      </div>
      <div className={styles.details}>
        <FinishClip run={run} />
        <LatestIteration series={series} expecting={live || !loaded} />
        <RecentEvents />
        <NextIdeas run={run} />
      </div>
      <FirstStepCheck />
    </>
  );
}
