/** The base of a new run; `preset: null` uses the default preset. */
export type NewFrom =
  | { preset: string | null }
  /** A run's configuration (null) or one of its checkpoints. */
  | { run: string; checkpoint: number | null };

/** All runs, episode search, or deleted runs. */
export type HistoryTab = 'runs' | 'episodes' | 'trash';
const historyTabs: readonly string[] = ['runs', 'episodes', 'trash'] satisfies HistoryTab[];

/** Tabs of a run's page, in order. The first has the run's own address. */
export const runTabs = ['overview', 'charts', 'episodes', 'checkpoints', 'log', 'configuration'] as const;
export type RunTab = (typeof runTabs)[number];
const isRunTab = (text: string): text is RunTab => (runTabs as readonly string[]).includes(text);

export type Route =
  | { page: 'start' }
  /** The form for a new run or sweep. `set`: edits of the base configuration; `importing`: opens the import dialog first. */
  | { page: 'new'; from: NewFrom; set?: Record<string, string>; study?: true; importing?: true }
  | { page: 'studies' }
  | { page: 'study'; studyId: string }
  | { page: 'history'; tab: HistoryTab }
  /** Overlaid runs, grouped or colored by a setting. */
  | { page: 'compare'; runIds: readonly string[]; group?: string; color?: string }
  /** `repository`: a hub model to find, as OWNER/NAME. */
  | { page: 'models'; repository?: string }
  /** `checkpoint`: null for the newest. Without a run, the user chooses one. */
  | { page: 'play'; runId?: undefined }
  | { page: 'play'; runId: string; checkpoint: number | null }
  /** `id`: an added environment; without it, the list. */
  | { page: 'environments'; id?: string }
  | { page: 'queue' }
  | { page: 'system' }
  | { page: 'settings' }
  /** `tab`: default overview. */
  | { page: 'run'; runId: string; tab?: RunTab }
  | { page: 'export'; runId: string }
  /** The roll-back of the run: its warning, changed settings and result. */
  | { page: 'rescue'; runId: string }
  /** Reasoning tree of an iteration; null for the newest. */
  | { page: 'thoughts'; runId: string; iteration: number | null }
  /** A level (from 1) of an evaluation set at an early and a late checkpoint; null for the first level whose result changed. */
  | { page: 'then-and-now'; runId: string; set: string | null; level: number | null }
  | {
      page: 'replay';
      runId: string;
      episodeId: string | null;
      /** The evaluation that contains the episode; otherwise it is in the run's rollouts. */
      evaluation?: string | null;
      /** First turn to play, from 1; defaults to the start. */
      turn?: number | null;
      /** Only episodes with a reward in these bounds, inclusive. */
      reward?: { least: number; most: number } | null;
      /** Only episodes whose first reasoning starts with, or (`whole`) equals, this text. */
      thought?: { text: string; whole: boolean } | null;
    }
  /** The episodes of a group (from 1) of an iteration, side by side. */
  | { page: 'group'; runId: string; iteration: number; group: number }
  | { page: 'unknown'; hash: string };

export type RouteOf<Page extends Route['page']> = Extract<Route, { page: Page }>;
type Valid = Exclude<Route['page'], 'unknown'>;

/** How a page's address is written. `parts` are the decoded parts of its path. */
interface Address<R extends Route> {
  /** Returns null for the address of another page. */
  parse: (parts: readonly string[], query: string) => R | null;
  format: (route: R) => string;
}

/** Parses and formats the address of a page without parameters. */
const fixed = <R extends RouteOf<'start' | 'queue' | 'studies' | 'system' | 'settings'>>(
  page: R['page'],
): Address<R> => ({
  parse: (parts) => (parts.length === 1 && parts[0] === page ? ({ page } as R) : null),
  format: () => page,
});

/** Parses and formats the address of a page of a run, `run/ID/VIEW/...`. */
const ofRun = <R extends Route & { runId: string }>(
  parse: (runId: string, view: string, rest: readonly string[], query: string) => R | null,
  format: (route: R) => readonly string[],
  formatQuery: (route: R) => string = () => '',
): Address<R> => ({
  parse: ([page, runId, view = '', ...rest], query) =>
    page === 'run' && runId ? parse(runId, view, rest, query) : null,
  format: (route) => [path('run', route.runId, ...format(route)), formatQuery(route)].filter(Boolean).join('?'),
});

const path = (...parts: readonly (string | number)[]): string => parts.map(encodeURIComponent).join('/');

const addresses: { [Page in Valid]: Address<RouteOf<Page>> } = {
  start: fixed('start'),
  studies: fixed('studies'),
  queue: fixed('queue'),
  system: fixed('system'),
  settings: fixed('settings'),
  // new[/PRESET], new/import, new/run/ID[/ITERATION], each with ?rollout.groups=8&...; for a sweep studies/new/...
  new: {
    parse: ([first, ...rest], query) =>
      first === 'studies' && rest[0] === 'new'
        ? parseNew(rest.slice(1), query, true)
        : first === 'new'
          ? parseNew(rest, query, false)
          : null,
    format: formatNew,
  },
  // study/ID
  study: {
    parse: ([page, studyId, ...rest]) => (page === 'study' && studyId && rest.length === 0 ? { page, studyId } : null),
    format: ({ studyId }) => path('study', studyId),
  },
  // history[/episodes] or history/trash
  history: {
    parse: ([page, tab = 'runs', ...rest]) =>
      page === 'history' && rest.length === 0 && historyTabs.includes(tab) ? { page, tab: tab as HistoryTab } : null,
    format: ({ tab }) => (tab === 'runs' ? 'history' : path('history', tab)),
  },
  // compare[/ID,ID,...][?group=SETTING&color=SETTING]
  compare: {
    parse: ([page, ids = '', ...rest], query) => {
      if (page !== 'compare' || rest.length > 0) return null;
      const { group, color } = Object.fromEntries(new URLSearchParams(query));
      const runIds = [...new Set(ids.split(',').filter(Boolean))];
      return { page, runIds, ...(group && { group }), ...(color && { color }) };
    },
    format: ({ runIds, group, color }) => {
      const address = ['compare', runIds.map(encodeURIComponent).join(',')].filter(Boolean).join('/');
      const query = new URLSearchParams({ ...(group && { group }), ...(color && { color }) }).toString();
      return [address, query].filter(Boolean).join('?');
    },
  },
  // models[/OWNER/NAME]
  models: {
    parse: ([page, owner, name, ...rest]) => {
      if (page !== 'models' || rest.length > 0) return null;
      if (owner === undefined) return { page };
      return owner && name ? { page, repository: `${owner}/${name}` } : null;
    },
    format: ({ repository }) => path('models', ...(repository?.split('/') ?? [])),
  },
  // environments[/ID]
  environments: {
    parse: ([page, id, ...rest]) => (page === 'environments' && rest.length === 0 ? { page, ...(id && { id }) } : null),
    format: ({ id }) => path('environments', ...present(id ?? null)),
  },
  // play[/RUN[/CHECKPOINT]]
  play: {
    parse: ([page, runId, checkpoint, ...rest]) => {
      if (page !== 'play' || rest.length > 0) return null;
      if (!runId) return { page };
      if (checkpoint === undefined) return { page, runId, checkpoint: null };
      return isIteration(checkpoint) ? { page, runId, checkpoint: Number(checkpoint) } : null;
    },
    format: (route) => (route.runId === undefined ? 'play' : path('play', route.runId, ...present(route.checkpoint))),
  },
  // run/ID[/TAB]
  run: ofRun<RouteOf<'run'>>(
    (runId, view, rest) => {
      if (view === '') return { page: 'run', runId };
      return isRunTab(view) && view !== 'overview' && rest.length === 0 ? { page: 'run', runId, tab: view } : null;
    },
    ({ tab = 'overview' }) => (tab === 'overview' ? [] : [tab]),
  ),
  export: ofRun(
    (runId, view, rest) => (view === 'export' && rest.length === 0 ? { page: view, runId } : null),
    () => ['export'],
  ),
  rescue: ofRun(
    (runId, view, rest) => (view === 'rescue' && rest.length === 0 ? { page: view, runId } : null),
    () => ['rescue'],
  ),
  // run/ID/thoughts[/ITERATION]
  thoughts: ofRun(
    (runId, view, [iteration = '']) =>
      view === 'thoughts' ? { page: view, runId, iteration: isIteration(iteration) ? Number(iteration) : null } : null,
    ({ iteration }) => ['thoughts', ...present(iteration)],
  ),
  // run/ID/then-and-now[/SET[/LEVEL]]
  'then-and-now': ofRun(
    (runId, view, [set, level]) =>
      view === 'then-and-now' ? { page: view, runId, set: set || null, level: positive(level) } : null,
    ({ set, level }) => ['then-and-now', ...(set === null ? [] : [set, ...present(level)])],
  ),
  // run/ID/group/ITERATION/GROUP
  group: ofRun(
    (runId, view, [iteration = '', group, ...rest]) =>
      view === 'group' && isIteration(iteration) && positive(group) !== null && rest.length === 0
        ? { page: view, runId, iteration: Number(iteration), group: positive(group)! }
        : null,
    ({ iteration, group }) => ['group', String(iteration), String(group)],
  ),
  // run/ID/replay[/EPISODE][?reward=LEAST..MOST] or run/ID/evaluation/NAME[/EPISODE]; after an episode /turn/NUMBER, /thought/WORDS or /opening/WORDS
  replay: ofRun<RouteOf<'replay'>>(
    (runId, view, rest, query) => {
      if (view === 'replay') return { page: view, runId, ...parseEpisode(rest), ...parseReward(query) };
      const [evaluation, ...episode] = rest;
      if (view !== 'evaluation' || !evaluation) return null;
      return { page: 'replay', runId, evaluation, ...parseEpisode(episode) };
    },
    ({ evaluation, episodeId, turn, thought }) => [
      ...(evaluation ? ['evaluation', evaluation] : ['replay']),
      ...(episodeId ? [episodeId] : []),
      ...(episodeId && thought ? [thought.whole ? 'thought' : 'opening', thought.text] : []),
      ...(episodeId && !thought && turn ? ['turn', String(turn)] : []),
    ],
    ({ reward }) => (reward ? `reward=${reward.least}..${reward.most}` : ''),
  ),
};

/** Parses the fragment of an address, such as `#/run/ID/replay`. */
export function parseRoute(hash: string): Route {
  const [address = '', query = ''] = splitOnce(hash.replace(/^#?\/?/, ''), '?');
  if (address === '') return { page: 'start' };
  const parts = address.split('/').map(decode);
  for (const { parse } of Object.values(addresses)) {
    const route = parse(parts, query);
    if (route) return route;
  }
  return { page: 'unknown', hash };
}

export function formatRoute(route: Route): string {
  if (route.page === 'unknown') return route.hash;
  const { format } = addresses[route.page] as Address<Route>;
  return `#/${format(route)}`;
}

function parseNew(
  [first = '', run, iteration, ...rest]: readonly string[],
  query: string,
  study: boolean,
): RouteOf<'new'> | null {
  const isRun = first === 'run';
  if (rest.length > 0 || (isRun ? !run : run !== undefined)) return null;
  if (iteration !== undefined && !isIteration(iteration)) return null;
  if (first === 'import' && !study) return { page: 'new', from: { preset: null }, importing: true };
  const checkpoint = iteration === undefined ? null : Number(iteration);
  const from: NewFrom = isRun ? { run: run!, checkpoint } : { preset: first || null };
  const set = Object.fromEntries(new URLSearchParams(query));
  return { page: 'new', from, ...(query && { set }), ...(study && { study }) };
}

function formatNew({ from, set = {}, study, importing }: RouteOf<'new'>): string {
  if (importing) return 'new/import';
  const base = 'run' in from ? ['run', from.run, ...present(from.checkpoint)] : present(from.preset);
  const query = new URLSearchParams(set).toString();
  return [path(...(study ? ['studies'] : []), 'new', ...base), query].filter(Boolean).join('?');
}

function parseEpisode([episodeId, kind, text = '']: readonly string[]) {
  const turn = kind === 'turn' ? positive(text) : null;
  return {
    episodeId: episodeId || null,
    ...(turn !== null && { turn }),
    ...((kind === 'thought' || kind === 'opening') && { thought: { text, whole: kind === 'thought' } }),
  };
}

function parseReward(query: string) {
  const bounds = new URLSearchParams(query).get('reward')?.split('..').map(Number) ?? [];
  const [least, most] = bounds;
  return least !== undefined && most !== undefined && bounds.every(Number.isFinite) ? { reward: { least, most } } : {};
}

const present = (value: string | number | null): string[] => (value === null ? [] : [String(value)]);
const isIteration = (text: string): boolean => /^\d{1,9}$/.test(text);
const positive = (text = ''): number | null => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null);

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Decodes a part of a path; a manually entered one may contain a lone percent sign. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
