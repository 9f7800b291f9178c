import type { RunSummary } from '../../core/contract/contract.ts';
import { bytes } from '../../core/contract/numbers.ts';
import { panelHashes } from '../../core/contract/panel-words.ts';
import { stateTitle } from '../../core/contract/trap-words.ts';
import { metricFacts } from '../../core/facts/metric-facts.ts';
import { settingFacts } from '../../core/facts/setting-facts.ts';
import { runLabel } from '../components/basics.tsx';
import { ago, duration, number, percent } from '../components/format.ts';
import { elapsedSeconds, machineText, shareDone, successOf } from '../components/run-facts.ts';
import { environmentTitle } from '../environments/registry.ts';
import { environmentType } from './differences.ts';
import { PathIndex, type SettingsByRun, settingText } from './settings.ts';

type Value = string | number | null;

export interface Column {
  /** A word, `setting:` and a path, or `metric:` and a name. */
  id: string;
  title: string;
  /** Explains the title. */
  hint?: string;
  /** Minimum width in pixels, and the share of free space. */
  width: number;
  grow?: number;
  /** Right-aligned; groups show the mean and the standard deviation, formatted by `text`. */
  numeric?: boolean;
  /** True if the first click sorts in descending order. */
  descending?: boolean;
  /** The value to sort by; null sorts last. */
  value: (run: RunSummary) => Value;
  /** Formats a value; default: the value as text, `–` for null. */
  text?: (value: number, run: RunSummary) => string;
}

/** Sources of values besides the run's summary. */
export interface ColumnSources {
  settings: SettingsByRun | null;
  /** Bytes on disk; absent where the page doesn't measure them. */
  disk?: ((runId: string) => number | undefined) | undefined;
}

const ownColumns = ({ disk }: ColumnSources): Column[] => [
  {
    ...{ id: 'environment', title: 'Environment', width: 100, grow: 0.9 },
    value: ({ environments }) => environments.map(environmentTitle).join(', '),
  },
  { id: 'algorithm', title: 'Algorithm', width: 140, grow: 1, value: ({ algorithm }) => algorithm },
  { id: 'status', title: 'Status', width: 122, value: runLabel },
  { id: 'trap', title: 'Echo Trap', width: 128, value: trapText },
  { id: 'iterations', title: 'Iterations', width: 104, descending: true, value: shareDone },
  {
    ...{ id: 'success', title: 'Success', hint: 'Latest evaluation', width: 78, numeric: true, descending: true },
    value: (run) => successOf(run).evaluation ?? null,
    text: (value) => percent(value),
  },
  {
    ...{ id: 'panel', title: 'Panel', hint: 'Hash of the levels of its evaluations', width: 96 },
    value: ({ panels }) => panelHashes(panels) || null,
  },
  {
    ...{ id: 'started', title: 'Started', width: 114, descending: true },
    value: ({ startedAt, createdAt }) => startedAt ?? createdAt,
    text: (value, { startedAt, task }) =>
      startedAt !== null ? ago(value, Date.now()) : task === 'imported' ? 'Imported' : 'Not started',
  },
  {
    ...{ id: 'duration', title: 'Duration', width: 108, numeric: true, descending: true },
    value: elapsedSeconds,
    text: duration,
  },
  { id: 'device', title: 'Device', width: 132, grow: 0.8, value: (run) => machineText(run) || null },
  ...(disk
    ? [
        {
          ...{ id: 'disk', title: 'Disk', width: 84, numeric: true, descending: true },
          value: ({ id }: RunSummary) => disk(id) ?? null,
          text: bytes,
        },
      ]
    : []),
  { id: 'tags', title: 'Tags', width: 120, grow: 0.8, value: ({ marks }) => marks.tags.join(', ') || null },
  { id: 'note', title: 'Note', width: 120, grow: 1.2, value: ({ marks }) => marks.note || null },
  { id: 'preset', title: 'Preset', width: 140, grow: 0.8, value: ({ preset }) => preset },
];

/** Returns the words for the monitor's state; null without data. */
export function trapText({ trap, collapse }: RunSummary): string | null {
  if (collapse) return stateTitle('collapsed');
  return trap && stateTitle(trap.state);
}

/** Returns every column besides the name. `metrics`: names of metrics in the runs' summaries; `index`: of the previous call, which saves time. */
export function columnsFor(metrics: readonly string[], sources: ColumnSources, index = new PathIndex()): Column[] {
  const { settings } = sources;
  const paths = settings ? index.update(new Set(settings.values())).all : [];
  return [
    ...ownColumns(sources),
    ...metrics.map(metricColumn),
    ...(settings ? paths.map((path) => settingColumn(path, settings)) : []),
  ];
}

const metricColumn = (name: string): Column => ({
  ...{ id: `metric:${name}`, title: metricFacts(name).title, hint: `${name}, newest value` },
  ...{ width: 112, numeric: true, descending: true },
  value: ({ latest }) => latest[name] ?? null,
  text: (value) => (name.endsWith('success_rate') ? percent(value) : number(value)),
});

export const settingPrefix = 'setting:';

function settingColumn(path: string, settings: SettingsByRun): Column {
  const { title, unit, value } = settingFacts(path, environmentType(path, settings.values()));
  const settingOf = (run: RunSummary) => settings.get(run.id)?.get(path) ?? null;
  return {
    ...{ id: `${settingPrefix}${path}`, title, hint: unit ? `${path}, in ${unit}` : path, width: 112 },
    value: (run) => {
      const found = settingOf(run);
      return found === null || typeof found === 'number' ? found : value(settingText(found));
    },
  };
}

/** Returns the text of a run's cell. */
export function cellText({ value, text }: Column, run: RunSummary): string {
  const found = value(run);
  if (found === null) return '–';
  return typeof found === 'number' ? (text?.(found, run) ?? plain(found)) : found;
}

/** Writes a setting as in run.json, but without digits that are due to binary fractions. */
const plain = (value: number) => String(Number(value.toPrecision(12)));

/** Returns mean and standard deviation of a numeric column; null if no run has a value. */
export function statisticsOf(
  { value }: Column,
  runs: readonly RunSummary[],
): { mean: number; deviation: number | null; count: number } | null {
  const values = runs.map(value).filter((each) => typeof each === 'number');
  if (values.length === 0) return null;
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  const squares = values.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return { mean, deviation: values.length < 2 ? null : Math.sqrt(squares / (values.length - 1)), count: values.length };
}

/** Compares as text or as numbers; null last in both directions, ties by creation. */
export function sortRuns(runs: readonly RunSummary[], column: Column | undefined, descending: boolean): RunSummary[] {
  const order = descending ? -1 : 1;
  return runs
    .map((run) => ({ run, value: column ? column.value(run) : run.name.toLowerCase() }))
    .sort((a, b) => {
      if (a.value === null || b.value === null)
        return Number(a.value === null) - Number(b.value === null) || b.run.createdAt - a.run.createdAt;
      const compared =
        typeof a.value === 'number' && typeof b.value === 'number'
          ? a.value - b.value
          : String(a.value).localeCompare(String(b.value), 'en', { numeric: true });
      return compared === 0 ? b.run.createdAt - a.run.createdAt : order * compared;
    })
    .map(({ run }) => run);
}

/** Columns in the order of their importance: the first ones that fit are shown until the user chooses. */
const defaults = {
  history: [
    ...['status', 'success', 'iterations', 'trap', 'started', 'environment', 'panel'],
    ...['setting:optimizer.learning_rate', 'duration', 'algorithm', 'disk', 'setting:seed', 'device', 'note'],
  ],
  compare: ['success', 'panel', 'setting:optimizer.learning_rate', 'setting:seed', 'status', 'algorithm', 'iterations'],
};
export type TableId = keyof typeof defaults;

/** Minimum width of the name, and width of the cells at both ends. */
export const nameWidths: Record<TableId, number> = { history: 230, compare: 165 };
const endsWidths: Record<TableId, number> = { history: 88, compare: 50 };

/** Returns the default columns that fit a width, in display order. */
export function fitting(table: TableId, all: readonly Column[], width: number): Column[] {
  let left = width - nameWidths[table] - endsWidths[table];
  const chosen = new Set<Column>();
  for (const id of defaults[table]) {
    const column = all.find((each) => each.id === id);
    if (!column) continue;
    if (column.width > left) break;
    left -= column.width;
    chosen.add(column);
  }
  const order = table === 'history' ? displayOrder : defaults.compare;
  return [...chosen].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

const displayOrder = [
  ...['environment', 'algorithm', 'setting:optimizer.learning_rate', 'setting:seed', 'status', 'trap', 'iterations'],
  ...['success', 'panel', 'started', 'duration', 'device', 'disk', 'note'],
];
