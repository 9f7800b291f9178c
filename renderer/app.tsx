import { CSPProvider } from '@base-ui/react/csp-provider';
import { useEffect, useRef } from 'react';
import { useApi } from './api/context.ts';
import { followLinks, formatRoute, parseRoute, type Route, useRoute } from './base/router.ts';
import { useScrollMemory } from './base/scroll-memory.ts';
import { listenForCommands } from './commands/commands.ts';
import { Dialogs } from './dialogs/dialogs.tsx';
import { notifyOfAlarms } from './notifications/notifications.ts';
import { ComparePage } from './pages/compare/compare-page.tsx';
import { HistoryPage } from './pages/history/history-page.tsx';
import { ModelsPage } from './pages/models/models-page.tsx';
import { NewPage } from './pages/new/new-page.tsx';
import { ChooseRunToPlay } from './pages/play/choose-run.tsx';
import { PlayPage } from './pages/play/play-page.tsx';
import { ReplayPage } from './pages/replay/replay-page.tsx';
import { TrapBanner } from './pages/run/echo-trap/trap-banner.tsx';
import { ExportPage } from './pages/run/export/export-page.tsx';
import { RunPage } from './pages/run/run-page.tsx';
import { StartPage } from './pages/start/start-page.tsx';
import { StudiesPage } from './pages/studies/studies-page.tsx';
import { StudyPage } from './pages/studies/study-page.tsx';
import { SystemPage } from './pages/system/system-page.tsx';
import { ThenAndNowPage } from './pages/then-and-now/then-and-now-page.tsx';
import { ThoughtsPage } from './pages/thoughts/thoughts-page.tsx';
import { ReplayView } from './player/replay-view.tsx';
import { Recovery } from './shell/recovery.tsx';
import { Sidebar } from './shell/sidebar.tsx';
import { SignIn } from './shell/sign-in.tsx';
import { Toasts } from './shell/toasts.tsx';
import { followCore, useApp } from './stores/app-store.ts';
import { RunView } from './views/run-view.tsx';

export function App() {
  const api = useApi();
  const route = useRoute();
  useEffect(() => followCore(api), [api]);
  useEffect(() => notifyOfAlarms(api), [api]);
  useEffect(() => listenForCommands(api, () => parseRoute(location.hash)), [api]);
  const main = useRef<HTMLElement>(null);
  useEffect(followLinks, []);
  const place = 'runId' in route ? `${route.page} ${route.runId}` : formatRoute(route);
  useScrollMemory(main, place);
  // Dismiss errors when the page changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: leaving the place is the reason
  useEffect(() => () => useApp.getState().dismissAll(), [place]);
  return (
    <CSPProvider disableStyleElements>
      <div className="shell">
        <button type="button" className="skip-link" onClick={() => document.getElementById('main')?.focus()}>
          Skip to the page
        </button>
        <Sidebar route={route} />
        <main id="main" ref={main} tabIndex={-1}>
          <ConnectionNote />
          <ReadOnlyNote />
          <Recovery here={route.page === 'run' ? route.runId : null} />
          <Page route={route} />
        </main>
        <Toasts />
      </div>
      <Dialogs route={route} />
    </CSPProvider>
  );
}

function Page({ route }: { route: Route }) {
  const locked = useApp(({ connection, runs }) => connection === 'signed-out' && runs === null);
  if (locked) return <LockedPage />;
  if (route.page === 'start') return <StartPage />;
  if (route.page === 'studies') return <StudiesPage />;
  if (route.page === 'study') return <StudyPage key={route.studyId} studyId={route.studyId} />;
  if (route.page === 'compare') return <ComparePage runIds={route.runIds} />;
  if (route.page === 'new')
    return (
      <NewPage
        key={formatRoute(route)}
        from={route.from}
        set={route.set ?? {}}
        study={route.study === true}
        importing={route.importing === true}
      />
    );
  if (route.page === 'history') return <HistoryPage part={route.part} />;
  if (route.page === 'system') return <SystemPage />;
  if (route.page === 'models') return <ModelsPage repository={route.repository ?? null} />;
  if (route.page === 'play')
    return route.runId === undefined ? (
      <ChooseRunToPlay />
    ) : (
      <PlayPage key={route.runId} runId={route.runId} checkpoint={route.checkpoint} />
    );
  if (route.page === 'unknown') return <UnknownPage hash={route.hash} />;
  return (
    // Keep the run's subscriptions while switching between its pages.
    <RunView key={route.runId} runId={route.runId}>
      <TrapBanner away={route.page !== 'run'} />
      {route.page === 'run' && <RunPage />}
      {route.page === 'export' && <ExportPage />}
      {route.page === 'thoughts' && <ThoughtsPage iteration={route.iteration} />}
      {route.page === 'then-and-now' && <ThenAndNowPage set={route.set} level={route.level} />}
      {route.page === 'replay' && (
        <ReplayView>
          <ReplayPage
            evaluation={route.evaluation ?? null}
            episodeId={route.episodeId}
            turn={route.turn ?? null}
            thought={route.thought ?? null}
          />
        </ReplayView>
      )}
    </RunView>
  );
}

/** Shown instead of a page before sign-in. */
const LockedPage = () => (
  <div className="page">
    <h1>Not signed in</h1>
    <p className="muted">Sign in above to continue.</p>
  </div>
);

function UnknownPage({ hash }: { hash: string }) {
  useEffect(() => {
    document.title = 'Page not found · StarPO Studio';
  }, []);
  return (
    <div className="page">
      <h1>Page not found</h1>
      <p className="muted">
        There is no page at <code>{hash}</code>. <a href={formatRoute({ page: 'start' })}>Go to Start</a>
      </p>
    </div>
  );
}

/** Explains why the data folder is read-only. */
function ReadOnlyNote() {
  const readOnly = useApp(({ system }) => system?.readOnly ?? null);
  if (!readOnly) return null;
  return (
    <div className="banner" role="status">
      <strong>Read-only data folder.</strong> {readOnly.message} {readOnly.hint}
    </div>
  );
}

function ConnectionNote() {
  const connection = useApp((state) => state.connection);
  if (connection === 'lost') {
    return (
      <div className="banner" role="status">
        <strong>Connection lost.</strong> Training continues, and this page updates when the server is back.
        If <code>starpo serve</code> now runs on another port, open the address it printed.
      </div>
    );
  }
  if (connection === 'refused') {
    return (
      <div className="banner" role="alert">
        <strong>StarPO Studio isn’t responding.</strong> Training continues. Reconnecting…
      </div>
    );
  }
  if (connection === 'untrusted') {
    return (
      <div className="banner" role="alert">
        <strong>A different server is running at this address.</strong> No data was sent to it. If you
        restarted <code>starpo serve</code>, open the address it printed.
      </div>
    );
  }
  if (connection === 'signed-out') return <SignIn />;
  return null;
}
