import { CSPProvider } from '@base-ui/react/csp-provider';
import { useEffect, useRef } from 'react';
import { useApi } from './api/context.ts';
import { followLinks, useRoute } from './base/router.ts';
import { formatRoute, parseRoute } from './base/routes.ts';
import { useScrollMemory } from './base/scroll-memory.ts';
import { listenForCommands } from './commands/commands.ts';
import { ConfirmCommand } from './dialogs/confirm-command.tsx';
import { Dialogs } from './dialogs/dialogs.tsx';
import { notifyOfAlarms } from './notifications/notifications.ts';
import { Page } from './page.tsx';
import { DropTarget } from './shell/drop-target.tsx';
import { ConnectionNote, OutdatedPage, ReadOnlyNote } from './shell/notes.tsx';
import { Recovery } from './shell/recovery.tsx';
import { Sidebar } from './shell/sidebar.tsx';
import { Toasts } from './shell/toasts.tsx';
import { followServer, followTargetsFile, useApp } from './stores/app-store.ts';
import { useDialogs } from './stores/dialogs-store.ts';

export function App() {
  const api = useApi();
  const route = useRoute();
  useEffect(() => followServer(api), [api]);
  useEffect(() => followTargetsFile(api), [api]);
  useEffect(() => notifyOfAlarms(api), [api]);
  useEffect(() => listenForCommands(api, () => parseRoute(location.hash)), [api]);
  useEffect(followLinks, []);
  const main = useRef<HTMLElement>(null);
  // The parameters of a run's page, such as the episode, don't make it another page.
  const pageKey = 'runId' in route ? `${route.page} ${route.runId}` : formatRoute(route);
  const viewKey = route.page === 'run' ? formatRoute(route) : pageKey;
  useScrollMemory(main, viewKey);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a dialog belongs to the page that opened it, except for dropped files.
  useEffect(() => () => useDialogs.getState().closePageDialog(), [viewKey]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: dismisses errors when the page changes.
  useEffect(() => () => useApp.getState().dismissAll(), [pageKey]);
  const outdated = useApp(({ connection }) => connection === 'outdated');
  if (outdated) return <OutdatedPage />;
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
        <DropTarget />
      </div>
      <Dialogs route={route} />
      <ConfirmCommand />
    </CSPProvider>
  );
}
