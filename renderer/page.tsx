import type { ReactNode } from 'react';
import { formatRoute, type Route, type RouteOf } from './base/routes.ts';
import { useTitle } from './base/title.ts';
import { ComparePage } from './pages/compare/compare-page.tsx';
import { EnvironmentPage } from './pages/environments/environment-page.tsx';
import { EnvironmentsPage } from './pages/environments/environments-page.tsx';
import { GroupPage } from './pages/group/group-page.tsx';
import { HistoryPage } from './pages/history/history-page.tsx';
import { ModelsPage } from './pages/models/models-page.tsx';
import { NewPage } from './pages/new/new-page.tsx';
import { ChooseRunToPlay } from './pages/play/choose-run.tsx';
import { PlayPage } from './pages/play/play-page.tsx';
import { QueuePage } from './pages/queue/queue-page.tsx';
import { ReplayPage } from './pages/replay/replay-page.tsx';
import { TrapBanner } from './pages/run/echo-trap/trap-banner.tsx';
import { ExportPage } from './pages/run/export/export-page.tsx';
import { RescuePage } from './pages/run/rescue/rescue-page.tsx';
import { RunPage } from './pages/run/run-page.tsx';
import { SettingsPage } from './pages/settings/settings-page.tsx';
import { StartPage } from './pages/start/start-page.tsx';
import { StudiesPage } from './pages/studies/studies-page.tsx';
import { StudyPage } from './pages/studies/study-page.tsx';
import { SystemPage } from './pages/system/system-page.tsx';
import { ThenAndNowPage } from './pages/then-and-now/then-and-now-page.tsx';
import { ThoughtsPage } from './pages/thoughts/thoughts-page.tsx';
import { ReplayView } from './player/replay-view.tsx';
import { useApp } from './stores/app-store.ts';
import { RunView } from './views/run-view.tsx';

/** Renders each page. A new page needs an entry here and one in base/routes.ts. */
const pages: { [Page in Route['page']]: (route: RouteOf<Page>) => ReactNode } = {
  start: () => <StartPage />,
  new: (route) => (
    <NewPage
      key={formatRoute(route)}
      from={route.from}
      set={route.set ?? {}}
      study={route.study === true}
      importing={route.importing === true}
    />
  ),
  studies: () => <StudiesPage />,
  study: ({ studyId }) => <StudyPage key={studyId} studyId={studyId} />,
  history: ({ tab }) => <HistoryPage tab={tab} />,
  compare: ({ page: _, ...route }) => <ComparePage {...route} />,
  models: ({ repository = null }) => <ModelsPage repository={repository} />,
  environments: ({ id }) => (id === undefined ? <EnvironmentsPage /> : <EnvironmentPage key={id} id={id} />),
  play: (route) =>
    route.runId === undefined ? (
      <ChooseRunToPlay />
    ) : (
      <PlayPage key={route.runId} runId={route.runId} checkpoint={route.checkpoint} />
    ),
  queue: () => <QueuePage />,
  system: () => <SystemPage />,
  settings: () => <SettingsPage />,
  run: (route) => inRun(route, <RunPage tab={route.tab ?? 'overview'} />),
  export: (route) => inRun(route, <ExportPage />),
  rescue: (route) => inRun(route, <RescuePage />),
  thoughts: (route) => inRun(route, <ThoughtsPage iteration={route.iteration} />),
  'then-and-now': (route) => inRun(route, <ThenAndNowPage set={route.set} level={route.level} />),
  replay: (route) =>
    inRun(
      route,
      <ReplayView>
        <ReplayPage
          evaluation={route.evaluation ?? null}
          episodeId={route.episodeId}
          turn={route.turn ?? null}
          thought={route.thought ?? null}
          reward={route.reward ?? null}
        />
      </ReplayView>,
    ),
  group: (route) =>
    inRun(
      route,
      <ReplayView key={`${route.iteration} ${route.group}`}>
        <GroupPage iteration={route.iteration} group={route.group - 1} />
      </ReplayView>,
    ),
  unknown: ({ hash }) => <UnknownPage hash={hash} />,
};

/** Renders a page of a run. The run's subscriptions stay when the user switches between its pages. */
const inRun = ({ page, runId }: { page: Route['page']; runId: string }, content: ReactNode) => (
  <RunView key={runId} runId={runId}>
    {page !== 'run' && <TrapBanner />}
    {content}
  </RunView>
);

export function Page({ route }: { route: Route }) {
  const signedOut = useApp(({ connection, runs }) => connection === 'signed-out' && runs === null);
  if (signedOut) return <SignedOutPage />;
  return (pages[route.page] as (route: Route) => ReactNode)(route);
}

function SignedOutPage() {
  return (
    <div className="page">
      <h1>Not signed in</h1>
      <p className="muted">Sign in above to continue.</p>
    </div>
  );
}

function UnknownPage({ hash }: { hash: string }) {
  useTitle('Page not found');
  return (
    <div className="page">
      <h1>Page not found</h1>
      <p className="muted">
        There is no page at <code>{hash}</code>. <a href={formatRoute({ page: 'start' })}>Go to Start</a>
      </p>
    </div>
  );
}
