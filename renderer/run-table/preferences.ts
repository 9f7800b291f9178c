import { create } from 'zustand';
import { storedObject } from '../base/stored-object.ts';
import type { TableId } from './columns.ts';

const storageKey = 'starpo-run-tables';

export interface Sort {
  /** Id of a column, or `name`. */
  key: string;
  descending: boolean;
}

interface TablePreferences {
  /** Ids of the chosen columns, in order; null for the default ones. */
  columns: readonly string[] | null;
  sort: Sort;
}

type Stored = Record<TableId, TablePreferences>;

interface RunTables extends Stored {
  change: (table: TableId, changed: Partial<TablePreferences>) => void;
}

const newestFirst: Sort = { key: 'started', descending: true };
export const defaults: Stored = {
  history: { columns: null, sort: newestFirst },
  compare: { columns: null, sort: newestFirst },
};

/** The chosen columns and the order of the run tables, stored in the browser. */
export const useRunTables = create<RunTables>()((set) => ({
  ...stored(),
  change: (table, changed) => set((state) => ({ [table]: { ...state[table], ...changed } })),
}));

useRunTables.subscribe(({ history, compare }) =>
  localStorage.setItem(storageKey, JSON.stringify({ history, compare })),
);

/** Reads the stored settings. Ignores invalid values, which another version may have written. */
function stored(): Stored {
  const parsed = storedObject(storageKey);
  return { history: read(parsed.history, defaults.history), compare: read(parsed.compare, defaults.compare) };
}

function read(value: unknown, otherwise: TablePreferences): TablePreferences {
  const { columns, sort } = (value ?? {}) as { columns?: unknown; sort?: Partial<Sort> };
  return {
    columns: Array.isArray(columns) ? columns.filter((each) => typeof each === 'string') : otherwise.columns,
    sort: typeof sort?.key === 'string' ? { key: sort.key, descending: sort.descending === true } : otherwise.sort,
  };
}
