import { useMemo, useSyncExternalStore } from 'react';
import type { Guide } from '../../core/contract/bridge.ts';

export type Route =
  | { page: 'start' }
  /** The form for a new run or sweep. `set`: edits of the base configuration; `importing`: opens the import dialog first. */
  | { page: 'new'; from: NewFrom; set?: Record<string, string>; study?: true; importing?: true }
  | { page: 'studies' }
  | { page: 'system' }
  | { page: 'study'; studyId: string }
  | { page: 'history'; part: HistoryPart }
  /** Overlaid runs; an empty list lets the user choose. */
  | { page: 'compare'; runIds: readonly string[] }
  /** `repository`: a hub model to find, as OWNER/NAME. */
  | { page: 'models'; repository?: string }
  /** The user chooses a run on the page. */
  | { page: 'play'; runId?: undefined }
  /** `checkpoint`: null for the newest. */
  | { page: 'play'; runId: string; checkpoint: number | null }
  /** An invalid address. */
  | { page: 'unknown'; hash: string }
  | { page: 'run'; runId: string }
  | { page: 'export'; runId: string }
  /** Thought tree of an iteration; null for the newest. */
  | { page: 'thoughts'; runId: string; iteration: number | null }
  /** A level (from 1) of an evaluation set at an early and a late checkpoint; null for the first learned level. */
  | { page: 'then-and-now'; runId: string; set: string | null; level: number | null }
  | {
      page: 'replay';
      runId: string;
      episodeId: string | null;
      /** The evaluation that contains the episode; otherwise it is in the run's rollouts. */
      evaluation?: string | null;
      /** First turn to play, from 1; defaults to the start. */
      turn?: number | null;
      /** Only episodes whose first reasoning starts with, or (`whole`) equals, this text. */
      thought?: { text: string; whole: boolean } | null;
    };

/** The base of a new run; `preset: null` uses the default preset. */
export type NewFrom =
  | { preset: string | null }
  /** A run's configuration (null) or one of its checkpoints. */
  | { run: string; checkpoint: number | null };

/** All runs, episode search, or deleted runs. */
export type HistoryPart = 'runs' | 'episodes' | 'trash';
const historyParts: readonly string[] = ['runs', 'episodes', 'trash'] satisfies HistoryPart[];

/**
 * The addresses of the pages:
 * - `#/start`, or an empty hash.
 * - `#/new[/PRESET]`, `#/new/import`, `#/new/run/ID[/ITERATION]`, each with `?rollout.groups=8&...`; the same under `#/studies` for a sweep.
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

/** `replace` adds no history entry, for navigation without a click. */
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

/** Splits a text at the first `mark`. */
function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Decodes a URL part; a manually entered one may contain a lone percent sign. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Follows links that open the desktop app, until the returned function is called. */
export function followLinks(): () => void {
  const guide = (window as { starpo?: Partial<Guide> }).starpo;
  return guide?.onGo?.((page) => navigate(parseRoute(page))) ?? (() => {});
}
