import { useSyncExternalStore } from 'react';

export type Route =
  | { page: 'start' }
  | { page: 'run'; runId: string }
  | { page: 'replay'; runId: string; episodeId: string | null };

/** `#/start`, `#/run/ID`, `#/run/ID/replay[/EPISODE]`; anything else is Start. */
export function parseRoute(hash: string): Route {
  const [page, runId, view, episodeId] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decode);
  if (page !== 'run' || !runId) return { page: 'start' };
  if (view !== 'replay') return { page: 'run', runId };
  return { page: 'replay', runId, episodeId: episodeId || null };
}

export function formatRoute(route: Route): string {
  if (route.page === 'start') return '#/start';
  const run = `#/run/${encodeURIComponent(route.runId)}`;
  if (route.page === 'run') return run;
  return route.episodeId ? `${run}/replay/${encodeURIComponent(route.episodeId)}` : `${run}/replay`;
}

/** `replace` leaves no entry in the history, for what follows from a page rather than from a click. */
export function navigate(route: Route, replace = false): void {
  const hash = formatRoute(route);
  if (location.hash === hash) return;
  if (replace) {
    history.replaceState(null, '', hash);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = hash;
}

export function useRoute(): Route {
  return parseRoute(useSyncExternalStore(subscribe, () => location.hash));
}

function subscribe(onChange: () => void): () => void {
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
}

/** A hand-typed address may hold a lone percent sign. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
