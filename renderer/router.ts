import { useSyncExternalStore } from 'react';

export type Route =
  | { page: 'start' }
  | { page: 'studies' }
  | { page: 'study'; studyId: string }
  /** An address that means no page. */
  | { page: 'unknown'; hash: string }
  | { page: 'run'; runId: string }
  | {
      page: 'replay';
      runId: string;
      episodeId: string | null;
      /** Of an evaluation that was asked for; else the episode is of the run's own rollouts. */
      evaluation?: string | null;
    };

/** `#/start` (nothing means it too), `#/studies`, `#/study/ID`, `#/run/ID`, `#/run/ID/replay[/EPISODE]`, `#/run/ID/evaluation/NAME[/EPISODE]`. */
export function parseRoute(hash: string): Route {
  const [page, runId, view, ...rest] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decode);
  if (page === '' || page === 'start') return { page: 'start' };
  if (page === 'studies' && runId === undefined) return { page: 'studies' };
  if (page === 'study' && runId && view === undefined) return { page: 'study', studyId: runId };
  if (page !== 'run' || !runId) return { page: 'unknown', hash };
  if (view === 'replay') return { page: 'replay', runId, episodeId: rest[0] || null };
  if (view === 'evaluation' && rest[0])
    return { page: 'replay', runId, evaluation: rest[0], episodeId: rest[1] || null };
  return view ? { page: 'unknown', hash } : { page: 'run', runId };
}

export function formatRoute(route: Route): string {
  if (route.page === 'start') return '#/start';
  if (route.page === 'studies') return '#/studies';
  if (route.page === 'study') return `#/study/${encodeURIComponent(route.studyId)}`;
  if (route.page === 'unknown') return route.hash;
  const run = `#/run/${encodeURIComponent(route.runId)}`;
  if (route.page === 'run') return run;
  const view = route.evaluation ? `evaluation/${encodeURIComponent(route.evaluation)}` : 'replay';
  return route.episodeId ? `${run}/${view}/${encodeURIComponent(route.episodeId)}` : `${run}/${view}`;
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
