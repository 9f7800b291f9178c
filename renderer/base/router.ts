import { useMemo, useSyncExternalStore } from 'react';
import type { Guide } from '../../core/contract/bridge.ts';

export type Route =
  | { page: 'start' }
  /** The form of a new run, or of a study's runs. `set`: settings that differ from what it is made from; `importing`: it asks for a configuration first. */
  | { page: 'new'; from: NewFrom; set?: Record<string, string>; study?: true; importing?: true }
  | { page: 'studies' }
  | { page: 'system' }
  | { page: 'study'; studyId: string }
  | { page: 'history'; part: HistoryPart }
  /** Runs over one another; none: to be chosen there. */
  | { page: 'compare'; runIds: readonly string[] }
  /** `repository`: a model of the hub that is looked up there, as OWNER/NAME. */
  | { page: 'models'; repository?: string }
  /** Whose checkpoint plays is chosen there. */
  | { page: 'play'; runId?: undefined }
  /** Null: the newest checkpoint. */
  | { page: 'play'; runId: string; checkpoint: number | null }
  /** An address that means no page. */
  | { page: 'unknown'; hash: string }
  | { page: 'run'; runId: string }
  | { page: 'export'; runId: string }
  /** The first thoughts of an iteration; null: of the newest. */
  | { page: 'thoughts'; runId: string; iteration: number | null }
  /** A level of an evaluation set (from 1 on) at an early and at a late checkpoint; null: the first that was learned. */
  | { page: 'then-and-now'; runId: string; set: string | null; level: number | null }
  | {
      page: 'replay';
      runId: string;
      episodeId: string | null;
      /** Of an evaluation that was asked for; else the episode is of the run's own rollouts. */
      evaluation?: string | null;
      /** Where the player begins, from 1 on; at the start where there is none. */
      turn?: number | null;
      /** Only episodes whose first thought begins with these words, or is made of them alone. */
      thought?: { text: string; whole: boolean } | null;
    };

/** What a new run is made from; `preset: null` leaves the choice to the page. */
export type NewFrom =
  | { preset: string | null }
  /** A run's configuration alone, or one of its checkpoints. */
  | { run: string; checkpoint: number | null };

/** All runs, what their episodes say, or those that were deleted. */
export type HistoryPart = 'runs' | 'episodes' | 'trash';
const historyParts: readonly string[] = ['runs', 'episodes', 'trash'] satisfies HistoryPart[];

/**
 * The addresses of the pages:
 * - `#/start`; nothing means it too.
 * - `#/new[/PRESET]`, `#/new/import`, `#/new/run/ID[/ITERATION]`, each with `?rollout.groups=8&...`; the same after `#/studies` for a study.
 * - `#/studies`, `#/study/ID`
 * - `#/history[/episodes]`, or `/trash`
 * - `#/compare/ID,ID,...`
 * - `#/models[/OWNER/NAME]`, `#/play[/RUN[/CHECKPOINT]]`, `#/system`
 * - `#/run/ID`, `#/run/ID/export`, `#/run/ID/thoughts[/ITERATION]`
 * - `#/run/ID/replay[/EPISODE[/thought/WORDS]]`, or `/opening/WORDS`; `#/run/ID/evaluation/NAME[/EPISODE]`; an episode also with `/turn/NUMBER`
 * - `#/run/ID/then-and-now[/SET[/LEVEL]]`
 */
export function parseRoute(hash: string): Route {
  const [place = '', query = ''] = cut(hash.replace(/^#?\/?/, ''), '?');
  const [page, runId, view, ...rest] = place.split('/').map(decode);
  if (page === '' || page === 'start') return { page: 'start' };
  const made = page === 'studies' ? [runId, view, ...rest] : [page, runId, view, ...rest];
  if (made[0] === 'new')
    return parseNew(made.slice(1), query, page === 'studies') ?? { page: 'unknown', hash };
  if (page === 'studies' && runId === undefined) return { page: 'studies' };
  if (page === 'system' && runId === undefined) return { page: 'system' };
  if (page === 'study' && runId && view === undefined) return { page: 'study', studyId: runId };
  if (page === 'history' && view === undefined && historyParts.includes(runId ?? 'runs'))
    return { page: 'history', part: (runId ?? 'runs') as HistoryPart };
  if (page === 'compare' && view === undefined)
    return { page: 'compare', runIds: [...new Set((runId ?? '').split(',').filter(Boolean))] };
  if (page === 'models' && runId === undefined) return { page: 'models' };
  if (page === 'models' && runId && view && rest.length === 0)
    return { page: 'models', repository: `${runId}/${view}` };
  if (page === 'play' && rest.length === 0) return playRoute(runId, view, hash);
  if (page !== 'run' || !runId) return { page: 'unknown', hash };
  if (view === 'replay') {
    const [episodeId, kind, text] = rest;
    const thought =
      kind === 'thought' || kind === 'opening' ? { text: text ?? '', whole: kind === 'thought' } : null;
    return {
      page: 'replay',
      runId,
      episodeId: episodeId || null,
      ...turnOf(kind, text),
      ...(thought && { thought }),
    };
  }
  if (view === 'then-and-now')
    return { page: 'then-and-now', runId, set: rest[0] || null, level: numberOf(rest[1]) };
  if (view === 'thoughts') {
    const iteration = /^\d{1,9}$/.test(rest[0] ?? '') ? Number(rest[0]) : null;
    return { page: 'thoughts', runId, iteration };
  }
  if (view === 'evaluation' && rest[0])
    return {
      page: 'replay',
      runId,
      evaluation: rest[0],
      episodeId: rest[1] || null,
      ...turnOf(rest[2], rest[3]),
    };
  if (view === 'export' && rest.length === 0) return { page: 'export', runId };
  return view ? { page: 'unknown', hash } : { page: 'run', runId };
}

function parseNew(parts: (string | undefined)[], query: string, study: boolean): Route | null {
  const [first, run, iteration, more] = parts;
  const whole = (text: string) => (/^\d{1,7}$/.test(text) ? Number(text) : null);
  if (more !== undefined || (first !== 'run' && run !== undefined)) return null;
  const checkpoint = iteration === undefined ? null : whole(iteration);
  if (first === 'run' && (!run || (iteration !== undefined && checkpoint === null))) return null;
  if (first === 'import' && !study) return { page: 'new', from: { preset: null }, importing: true };
  const from: NewFrom = first === 'run' ? { run: run!, checkpoint } : { preset: first || null };
  const set = Object.fromEntries(new URLSearchParams(query));
  return { page: 'new', from, ...(query && { set }), ...(study && { study }) };
}

function formatNew({ from, set = {}, study, importing }: Extract<Route, { page: 'new' }>): string {
  if (importing) return '#/new/import';
  const query = new URLSearchParams(set).toString();
  const parts =
    'run' in from
      ? ['run', from.run, ...(from.checkpoint === null ? [] : [String(from.checkpoint)])]
      : from.preset === null
        ? []
        : [from.preset];
  const place = [study ? '#/studies/new' : '#/new', ...parts.map(encodeURIComponent)].join('/');
  return query ? `${place}?${query}` : place;
}

const numberOf = (text = '') => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null);

function turnOf(kind: string | undefined, text: string | undefined): { turn?: number } {
  const turn = kind === 'turn' ? numberOf(text) : null;
  return turn === null ? {} : { turn };
}

function playRoute(runId: string | undefined, checkpoint: string | undefined, hash: string): Route {
  if (!runId) return { page: 'play' };
  if (checkpoint === undefined || /^\d{1,7}$/.test(checkpoint))
    return { page: 'play', runId, checkpoint: checkpoint === undefined ? null : Number(checkpoint) };
  return { page: 'unknown', hash };
}

export function formatRoute(route: Route): string {
  if (route.page === 'start') return '#/start';
  if (route.page === 'new') return formatNew(route);
  if (route.page === 'studies') return '#/studies';
  if (route.page === 'system') return '#/system';
  if (route.page === 'study') return `#/study/${encodeURIComponent(route.studyId)}`;
  if (route.page === 'history') return route.part === 'runs' ? '#/history' : `#/history/${route.part}`;
  if (route.page === 'compare')
    return ['#/compare', route.runIds.map(encodeURIComponent).join(',')].filter(Boolean).join('/');
  if (route.page === 'unknown') return route.hash;
  if (route.page === 'models')
    return ['#/models', ...(route.repository?.split('/') ?? []).map(encodeURIComponent)].join('/');
  if (route.page === 'play') {
    if (route.runId === undefined) return '#/play';
    const played = `#/play/${encodeURIComponent(route.runId)}`;
    return route.checkpoint === null ? played : `${played}/${route.checkpoint}`;
  }
  const run = `#/run/${encodeURIComponent(route.runId)}`;
  if (route.page === 'run') return run;
  if (route.page === 'export') return `${run}/export`;
  if (route.page === 'thoughts')
    return route.iteration === null ? `${run}/thoughts` : `${run}/thoughts/${route.iteration}`;
  if (route.page === 'then-and-now') {
    const set = route.set === null ? '' : `/${encodeURIComponent(route.set)}`;
    return `${run}/then-and-now${set}${set && route.level !== null ? `/${route.level}` : ''}`;
  }
  const view = route.evaluation ? `evaluation/${encodeURIComponent(route.evaluation)}` : 'replay';
  if (!route.episodeId) return `${run}/${view}`;
  const episode = `${run}/${view}/${encodeURIComponent(route.episodeId)}`;
  if (!route.thought) return route.turn ? `${episode}/turn/${route.turn}` : episode;
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

/** A text before and after the first `mark`. */
function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** A hand-typed address may hold a lone percent sign. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Goes where links into the desktop app lead, until the returned function is called; a browser has an address bar for that. */
export function followLinks(): () => void {
  const guide = (window as { starpo?: Partial<Guide> }).starpo;
  return guide?.onGo?.((page) => navigate(parseRoute(page))) ?? (() => {});
}
