import { useMemo, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { type Column, type ColumnSources, columnsFor, fitting, sortRuns, type TableId } from './columns.ts';
import { type Grouped, type GroupingChoice, groupBy, groupingChoices, groupingTitle } from './differences.ts';
import { useRunTables } from './preferences.ts';
import type { RowGroup } from './rows.tsx';
import { noSettings, PathIndex, type SettingsByRun } from './settings.ts';

interface TableOptions extends ColumnSources {
  table: TableId;
  /** The runs to show. */
  runs: readonly RunSummary[];
  /** Width of the table in pixels. */
  width: number;
  /** Id of a grouping; empty for none. */
  group: string;
}

interface Table {
  all: readonly Column[];
  columns: readonly Column[];
  sorted: readonly RunSummary[];
  groups: readonly RowGroup[] | null;
}

/** Returns the columns, the order and the groups of a table, as the user has chosen. */
export function useTable({ table, runs, width, group, settings, disk }: TableOptions): Table {
  const chosen = useRunTables((state) => state[table].columns);
  const { key, descending } = useRunTables((state) => state[table].sort);
  const [index] = useState(() => new PathIndex());
  // Summaries change several times a second, their metrics and ids don't.
  const names = [...new Set(runs.flatMap(({ latest }) => Object.keys(latest)))].sort().join('\n');
  const all = useMemo(
    () => columnsFor(names === '' ? [] : names.split('\n'), { settings, disk }, index),
    [names, settings, disk, index],
  );
  const columns = useMemo(
    () => (chosen ? chosen.flatMap((id) => all.find((each) => each.id === id) ?? []) : fitting(table, all, width)),
    [table, all, chosen, width],
  );
  const sorted = useMemo(
    () =>
      sortRuns(
        runs,
        all.find(({ id }) => id === key),
        descending,
      ),
    [runs, all, key, descending],
  );
  const groups = useMemo(() => (group === '' ? null : groupRuns(group, sorted, settings)), [group, sorted, settings]);
  return { all, columns, sorted, groups };
}

const groupedOf = (run: RunSummary, settings: SettingsByRun | null): Grouped => ({
  settings: settings?.get(run.id) ?? noSettings,
  point: run.study?.point ?? null,
});

/** Groups runs. Each group is where its first run would be. */
export function groupRuns(id: string, runs: readonly RunSummary[], settings: SettingsByRun | null): RowGroup[] {
  const { groups } = groupBy(
    id,
    runs.map((run) => groupedOf(run, settings)),
  );
  return groups.map(({ label, members }) => ({ label, runs: members.map((index) => runs[index]!) }));
}

/** Returns the ways to group runs, including the `active` ones, which may not separate them. */
export function useGroupings(
  runs: readonly RunSummary[],
  settings: SettingsByRun | null,
  active: readonly string[] = [],
): GroupingChoice[] {
  const [index] = useState(() => new PathIndex());
  const ids = runs.map(({ id }) => id).join(' ');
  const others = active.join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the settings of a run and its sweep don't change.
  return useMemo(() => {
    const choices = groupingChoices(
      runs.map((run) => groupedOf(run, settings)),
      index,
    );
    const missing = others.split(' ').filter((id) => id !== '' && !choices.some((choice) => choice.id === id));
    return [...choices, ...missing.map((id) => ({ id, title: groupingTitle(id) }))];
  }, [ids, settings, others]);
}
