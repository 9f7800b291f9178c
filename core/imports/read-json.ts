import { isLong, type NamedTable, readLong } from './long-table.ts';
import { lastRowTruncated, malformed, TableBuilder } from './table.ts';

type Fields = Record<string, unknown>;

/** The rows of a JSON file. */
export interface JsonRows {
  /** Whether it is a `trainer_state.json` of Hugging Face's trainers. */
  isTrainerState: boolean;
  rows: Fields[];
  remarks: string[];
}

/**
 * Reads JSON: a `trainer_state.json` with its `log_history`, MLflow's metric history, a list of objects, or one object per line. Skips a truncated
 * last line. Throws `import_malformed`.
 */
export function readJson(file: string, text: string): JsonRows {
  const whole = parseJson(text);
  const { log_history: history, metrics } = (isFields(whole) ? whole : {}) as Fields;
  const isTrainerState = Array.isArray(history);
  const list = Array.isArray(whole) ? whole : isTrainerState ? history : Array.isArray(metrics) ? metrics : null;
  const { rows, remarks }: { rows: unknown[]; remarks: string[] } = list
    ? { rows: list, remarks: [] }
    : readLines(file, text);
  if (!rows.every(isFields)) throw malformed(file, 'it contains values that are not objects.');
  return { isTrainerState, rows, remarks };
}

/** Converts rows to tables. Metrics nested below the step get the name that a flat table would have. */
export function jsonTables(file: string, { rows, remarks }: JsonRows): NamedTable[] {
  const names = Object.keys(rows[0] ?? {});
  if (isLong(names)) return readLong(file, names, rows);
  const builder = new TableBuilder(file);
  builder.remarks.push(...remarks);
  for (const fields of rows) {
    const row = builder.addRow();
    for (const [name, value] of flatFields(fields)) {
      const column = builder.column(name);
      if (value === null) column.mayHideNaN = true;
      else if (typeof value === 'number') column.add(row, value);
      else column.addText(row, String(value));
    }
  }
  return [{ name: null, table: builder.build() }];
}

/** Objects that only group the metrics of a step: `data` in verl's file logger, `metrics` in our JSON lines. */
const wrappers = new Set(['data', 'metrics', 'logs', 'log', 'scalars', 'values']);
const maxDepth = 4;

/** Returns the fields of a row. A nested object's fields are named `object/field`, without the prefix of a {@link wrappers} object. Outer fields win. */
function flatFields(fields: Fields): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  const add = (inner: Fields, prefix: string, depth: number) => {
    for (const [key, value] of Object.entries(inner)) if (!isFields(value)) flat.set(prefix + key, value);
    for (const [key, value] of Object.entries(inner)) {
      if (!isFields(value) || depth === maxDepth) continue;
      const nested = new Map(flat);
      add(value, depth === 0 && wrappers.has(key) ? prefix : `${prefix}${key}/`, depth + 1);
      for (const [name, outer] of nested) flat.set(name, outer);
    }
  };
  add(fields, '', 0);
  return flat;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readLines(file: string, text: string): { rows: unknown[]; remarks: string[] } {
  const lines = [...text.split('\n').entries()].filter(([, line]) => line.trim() !== '');
  const rows = lines.map(([, line]) => parseJson(line));
  const invalid = rows.indexOf(undefined);
  if (invalid < 0) return { rows, remarks: [] };
  if (invalid > 0 && invalid === lines.length - 1 && !text.endsWith('\n'))
    return { rows: rows.slice(0, -1), remarks: [lastRowTruncated] };
  throw malformed(file, `line ${lines[invalid]![0] + 1} is not valid JSON.`);
}

/** Parses JSON. Returns Python's NaN and Infinity as text, and undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  const quoted = () =>
    text.replace(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g, (token) =>
      token.startsWith('"') ? token : `"${token}"`,
    );
  for (const read of [() => text, quoted])
    try {
      return JSON.parse(read());
    } catch {}
  return undefined;
}
