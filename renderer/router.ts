import { useMemo, useSyncExternalStore } from 'react';

export type Route =
  | { page: 'start' }
  | { page: 'studies' }
  | { page: 'study'; studyId: string }
  | { page: 'models' }
  /** Whose checkpoint plays is chosen there. */
  | { page: 'play'; runId?: undefined }
  /** Null: the newest checkpoint. */
  | { page: 'play'; runId: string; checkpoint: number | null }
  /** An address that means no page. */
  | { page: 'unknown'; hash: string }
  | { page: 'run'; runId: string }
  /** The first thoughts of an iteration; null: of the newest. */
  | { page: 'thoughts'; runId: string; iteration: number | null }
  | {
      page: 'replay';
      runId: string;
      episodeId: string | null;
      /** Of an evaluation that was asked for; else the episode is of the run's own rollouts. */
      evaluation?: string | null;
      /** Only episodes whose first thought begins with these words, or is made of them alone. */
      thought?: { text: string; whole: boolean } | null;
    };

/**
 * `#/start` (nothing means it too), `#/studies`, `#/study/ID`, `#/run/ID`, `#/run/ID/thoughts[/ITERATION]`, `#/run/ID/replay[/EPISODE[/thought/WORDS]]` (or `/opening/WORDS`),
 * `#/run/ID/evaluation/NAME[/EPISODE]`, `#/play[/RUN[/CHECKPOINT]]`, `#/models`.
 */
export function parseRoute(hash: string): Route {
  const [page, runId, view, ...rest] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decode);
  if (page === '' || page === 'start') return { page: 'start' };
  if (page === 'studies' && runId === undefined) return { page: 'studies' };
  if (page === 'study' && runId && view === undefined) return { page: 'study', studyId: runId };
  if (page === 'models' && runId === undefined) return { page: 'models' };
  if (page === 'play' && rest.length === 0) return playRoute(runId, view, hash);
  if (page !== 'run' || !runId) return { page: 'unknown', hash };
  if (view === 'replay') {
    const [episodeId, kind, text] = rest;
    const thought =
      kind === 'thought' || kind === 'opening' ? { text: text ?? '', whole: kind === 'thought' } : null;
    return { page: 'replay', runId, episodeId: episodeId || null, ...(thought && { thought }) };
  }
  if (view === 'thoughts') {
    const iteration = /^\d{1,9}$/.test(rest[0] ?? '') ? Number(rest[0]) : null;
    return { page: 'thoughts', runId, iteration };
  }
  if (view === 'evaluation' && rest[0])
    return { page: 'replay', runId, evaluation: rest[0], episodeId: rest[1] || null };
  return view ? { page: 'unknown', hash } : { page: 'run', runId };
}

function playRoute(runId: string | undefined, checkpoint: string | undefined, hash: string): Route {
  if (!runId) return { page: 'play' };
  if (checkpoint === undefined || /^\d{1,7}$/.test(checkpoint))
    return { page: 'play', runId, checkpoint: checkpoint === undefined ? null : Number(checkpoint) };
  return { page: 'unknown', hash };
}

export function formatRoute(route: Route): string {
  if (route.page === 'start') return '#/start';
  if (route.page === 'studies') return '#/studies';
  if (route.page === 'study') return `#/study/${encodeURIComponent(route.studyId)}`;
  if (route.page === 'unknown') return route.hash;
  if (route.page === 'models') return '#/models';
  if (route.page === 'play') {
    if (route.runId === undefined) return '#/play';
    const played = `#/play/${encodeURIComponent(route.runId)}`;
    return route.checkpoint === null ? played : `${played}/${route.checkpoint}`;
  }
  const run = `#/run/${encodeURIComponent(route.runId)}`;
  if (route.page === 'run') return run;
  if (route.page === 'thoughts')
    return route.iteration === null ? `${run}/thoughts` : `${run}/thoughts/${route.iteration}`;
  const view = route.evaluation ? `evaluation/${encodeURIComponent(route.evaluation)}` : 'replay';
  if (!route.episodeId) return `${run}/${view}`;
  const episode = `${run}/${view}/${encodeURIComponent(route.episodeId)}`;
  if (!route.thought) return episode;
  return `${episode}/${route.thought.whole ? 'thought' : 'opening'}/${encodeURIComponent(route.thought.text)}`;
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
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => parseRoute(hash), [hash]);
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
