import { Tabs } from '@base-ui/react/tabs';
import { type ReactNode, useMemo } from 'react';
import { type RunSummary, sampleRunId } from '../../../core/contract/contract.ts';
import { navigate } from '../../base/router.ts';
import { formatRoute, type Route, type RunTab } from '../../base/routes.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { tabsOf, tabTitles } from '../../components/run-tabs.ts';
import { episodeFiles } from '../../episodes/episode-files.ts';
import { spansOf } from '../../episodes/learned.ts';
import { useRun } from '../../views/run-view.tsx';
import styles from './run-tabs.module.css';

/** Shows the run's tabs with the content of the selected one, and links to the run's other pages. */
export function RunTabs({ run, tab, children }: { run: RunSummary; tab: RunTab; children: ReactNode }) {
  const { id: runId } = run;
  return (
    <Tabs.Root value={tab} onValueChange={(to: RunTab) => navigate({ page: 'run', runId, tab: to })}>
      <div className={styles.bar}>
        <Tabs.List className={styles.tabs} aria-label="Views of the run">
          {tabsOf(run).map((each) => (
            <Tabs.Tab
              key={each}
              value={each}
              className={styles.tab}
              nativeButton={false}
              render={<a href={formatRoute({ page: 'run', runId, tab: each })}>{tabTitles[each]}</a>}
            />
          ))}
        </Tabs.List>
        <ViewLinks run={run} />
      </div>
      <Tabs.Panel value={tab} className={styles.panel}>
        {children}
      </Tabs.Panel>
    </Tabs.Root>
  );
}

/** Links to pages that show the run's episodes and policy. Their places are reserved before the first rollout. */
function ViewLinks({ run: { id: runId, task, startedAt } }: { run: RunSummary }) {
  const rollouts = useRun((state) => state.rollouts);
  const compared = useMemo(() => spansOf(episodeFiles(rollouts, [])).length > 0, [rollouts]);
  if (task === 'imported') return null;
  const plays = task === 'reinforce' && runId !== sampleRunId;
  const played = rollouts.length > 0;
  return (
    <nav className={styles.views} aria-label="Pages of the run">
      {plays && (
        <ViewLink title="Play" icon="game" to={{ page: 'play', runId, checkpoint: null }} ready={startedAt !== null} />
      )}
      <ViewLink
        title="Then and now"
        icon="compare"
        to={{ page: 'then-and-now', runId, set: null, level: null }}
        ready={compared}
      />
      <ViewLink title="Reasoning tree" icon="tree" to={{ page: 'thoughts', runId, iteration: null }} ready={played} />
      <ViewLink title="Replay episodes" icon="replay" to={{ page: 'replay', runId, episodeId: null }} ready={played} />
    </nav>
  );
}

function ViewLink({ title, icon, to, ready }: { title: string; icon: IconName; to: Route; ready: boolean }) {
  return (
    <a className="button" data-kind="quiet" data-pending={ready ? undefined : ''} href={formatRoute(to)}>
      <Icon name={icon} size={14} />
      {title}
    </a>
  );
}
