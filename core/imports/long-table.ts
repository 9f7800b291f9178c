import { type Table, TableBuilder } from './table.ts';

/** A run in a file. Its name is null if the file names no run. */
export interface NamedTable {
  name: string | null;
  table: Table;
}

const columns = {
  metric: ['key', 'metric', 'tag', 'metric_name'],
  value: ['value'],
  step: ['step', 'global_step', '_step'],
  time: ['timestamp', 'wall_time', 'wall time'],
  run: ['run name', 'run_name', 'run', 'run id', 'run_id', 'run_uuid'],
} as const;

const columnIn = (names: readonly string[], kind: keyof typeof columns) =>
  columns[kind].flatMap((name) => names.find((each) => each.trim().toLowerCase() === name) ?? [])[0];

/** Returns whether a table has one row per value, as MLflow's metric histories and TensorBoard's data frames do. */
export const isLong = (names: readonly string[]) =>
  (['metric', 'value', 'step'] as const).every((kind) => columnIn(names, kind) !== undefined);

/** Converts a table with one row per value to one table per run. */
export function readLong(
  file: string,
  names: readonly string[],
  rows: Iterable<Record<string, unknown>>,
): NamedTable[] {
  const [metric, value, step, time, run] = (['metric', 'value', 'step', 'time', 'run'] as const).map((kind) =>
    columnIn(names, kind),
  );
  const runs = new Map<string, { builder: TableBuilder; rows: Map<string, number> }>();
  const textIn = (fields: Record<string, unknown>, column: string | undefined) =>
    column === undefined ? '' : String(fields[column] ?? '');
  for (const fields of rows) {
    const runName = textIn(fields, run);
    const into = runs.get(runName) ?? { builder: new TableBuilder(file), rows: new Map() };
    runs.set(runName, into);
    const stepText = textIn(fields, step);
    let row = into.rows.get(stepText);
    if (row === undefined) {
      row = into.builder.addRow();
      into.rows.set(stepText, row);
      into.builder.column('step').addText(row, stepText);
      into.builder.column('timestamp').addText(row, textIn(fields, time));
    }
    into.builder.column(textIn(fields, metric)).addText(row, textIn(fields, value));
  }
  return [...runs].map(([name, { builder }]) => ({ name: name || null, table: builder.build() }));
}
