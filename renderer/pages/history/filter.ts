import { create } from 'zustand';
import type { RunStatus, RunSummary } from '../../../core/contract/contract.ts';
import { filterByText } from '../../run-table/filter-text.ts';
import type { SettingsByRun } from '../../run-table/settings.ts';

interface Filter {
  /** Terms in the syntax of run-table/filter-text.ts. */
  text: string;
  statuses: readonly RunStatus[];
  environments: readonly string[];
  tags: readonly string[];
  starred: boolean;
  archived: boolean;
  /** Id of a grouping; empty for none. */
  group: string;
  change: (change: Partial<Omit<Filter, 'change' | 'clear'>>) => void;
  clear: () => void;
}

const none = { text: '', statuses: [], environments: [], tags: [], starred: false, archived: false };

/** The filter of the table of runs, which lasts while the window is open. */
export const useFilter = create<Filter>()((set) => ({
  ...none,
  group: '',
  change: (change) => set(change),
  clear: () => set(none),
}));

type Conditions = Omit<Filter, 'change' | 'clear' | 'group'>;

export const isFiltered = (filter: Conditions) =>
  filter.text.trim() !== '' ||
  filter.starred ||
  filter.archived ||
  filter.statuses.length + filter.environments.length + filter.tags.length > 0;

/** Returns the runs that match the text and the selected values: either archived runs or the others. */
export function filterRuns(
  runs: readonly RunSummary[],
  { text, statuses, environments, tags, starred, archived }: Conditions,
  settings: SettingsByRun | null,
): { runs: RunSummary[]; problem: string | null } {
  const listed = runs.filter(({ marks, status, environments: own }) => {
    if (marks.archived !== archived || (starred && !marks.starred)) return false;
    if (statuses.length > 0 && !statuses.includes(status)) return false;
    if (environments.length > 0 && !own.some((each) => environments.includes(each))) return false;
    return tags.every((tag) => marks.tags.includes(tag));
  });
  return filterByText(listed, text, settings);
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
