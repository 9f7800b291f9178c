import { create } from 'zustand';
import type { DiskUse, RunStatus, RunSummary } from '../../../core/contract/contract.ts';
import { statusLabel } from '../../components/basics.tsx';
import { elapsedSeconds, machineText, shareDone, successOf } from '../../components/run-facts.ts';

/** Filters and sorts the table of runs. */

export type SortKey =
  | 'name'
  | 'environment'
  | 'algorithm'
  | 'status'
  | 'iterations'
  | 'success'
  | 'started'
  | 'duration'
  | 'device'
  | 'disk';

export interface Sort {
  key: SortKey;
  descending: boolean;
}

interface Filter {
  text: string;
  statuses: readonly RunStatus[];
  environments: readonly string[];
  tags: readonly string[];
  starred: boolean;
  archived: boolean;
  sort: Sort;
  change: (change: Partial<Omit<Filter, 'change' | 'clear'>>) => void;
  clear: () => void;
}

const storageKey = 'starpo-history-sort';
const newestFirst: Sort = { key: 'started', descending: true };
const none = { text: '', statuses: [], environments: [], tags: [], starred: false, archived: false };

/** The filter lasts while the window is open. The order is kept in local storage. */
export const useFilter = create<Filter>()((set) => ({
  ...none,
  sort: storedSort(),
  change: (change) => {
    if (change.sort) localStorage.setItem(storageKey, `${change.sort.key} ${change.sort.descending}`);
    set(change);
  },
  clear: () => set(none),
}));

function storedSort(): Sort {
  const [key, descending] = (localStorage.getItem(storageKey) ?? '').split(' ');
  return key && key in values ? { key: key as SortKey, descending: descending === 'true' } : newestFirst;
}

export const isFiltered = (filter: Omit<Filter, 'change' | 'clear' | 'sort'>) =>
  filter.text.trim() !== '' ||
  filter.starred ||
  filter.archived ||
  filter.statuses.length + filter.environments.length + filter.tags.length > 0;

/** Returns the runs that contain all words and match the selected values: either archived runs or the others. */
export function filterRuns(
  runs: readonly RunSummary[],
  { text, statuses, environments, tags, starred, archived }: Omit<Filter, 'change' | 'clear' | 'sort'>,
): RunSummary[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    const { marks, status } = run;
    if (marks.archived !== archived || (starred && !marks.starred)) return false;
    if (statuses.length > 0 && !statuses.includes(status)) return false;
    if (environments.length > 0 && !run.environments.some((each) => environments.includes(each))) return false;
    if (!tags.every((tag) => marks.tags.includes(tag))) return false;
    if (words.length === 0) return true;
    const searched = searchedText(run);
    return words.every((word) => searched.includes(word));
  });
}

function searchedText(run: RunSummary): string {
  const { id, name, preset, environments, algorithm, status, marks } = run;
  const texts = [name, id, preset, ...environments, algorithm, statusLabel(status), ...marks.tags, marks.note];
  return [...texts, machineText(run)].join(' ').toLowerCase();
}

type Value = string | number | null;

/** Returns the sort value per column; null sorts last in both directions. */
const values: Record<SortKey, (run: RunSummary, disk: number | undefined) => Value> = {
  name: ({ name }) => name.toLowerCase(),
  environment: ({ environments }) => environments.join(' '),
  algorithm: ({ algorithm }) => algorithm,
  status: ({ status }) => statusLabel(status),
  iterations: (run) => shareDone(run),
  success: (run) => successOf(run).evaluation ?? null,
  started: ({ startedAt, createdAt }) => startedAt ?? createdAt,
  duration: (run) => elapsedSeconds(run),
  device: (run) => machineText(run) || null,
  disk: (_, disk) => disk ?? null,
};

export function sortRuns(
  runs: readonly RunSummary[],
  { key, descending }: Sort,
  sizes: ReadonlyMap<string, DiskUse['runs'][number]>,
): RunSummary[] {
  const value = (run: RunSummary) => values[key](run, sizes.get(run.id)?.total);
  const order = descending ? -1 : 1;
  return runs
    .map((run) => ({ run, value: value(run) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      const compared =
        typeof a.value === 'string' && typeof b.value === 'string'
          ? a.value.localeCompare(b.value, 'en', { numeric: true })
          : Number(a.value) - Number(b.value);
      return compared === 0 ? b.run.createdAt - a.run.createdAt : order * compared;
    })
    .map(({ run }) => run);
}

export interface Choice<T extends string> {
  value: T;
  count: number;
}

/** Counts the runs per value, largest count first. */
export function countBy<T extends string>(
  runs: readonly RunSummary[],
  of: (run: RunSummary) => readonly T[],
): Choice<T>[] {
  const counts = new Map<T, number>();
  for (const run of runs) for (const value of new Set(of(run))) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
