import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { CsvError, parse } from 'csv-parse/sync';
import { Failure, fileReason } from '../contract/failure.ts';

/** A table as exported by a tracker. Cells are text; missing cells are empty. */
export interface Table {
  columns: string[];
  rows: string[][];
  /** Sentences on what was passed over. */
  remarks: string[];
}

const mostBytes = 64 << 20;
const mostRows = 200_000;
const mostColumns = 2000;

/**
 * Reads a CSV file (comma, semicolon or tab; a line that begins with `#` and a last one that was cut are passed over), or JSON as TRL leaves it: a `trainer_state.json` with its `log_history`, a list of objects, or an object a line. Nothing of it is run.
 * Throws `import_unreadable`, `import_too_large`, `import_empty` or `import_malformed`.
 */
export function readTable(path: string): Table {
  const text = readText(path);
  const start = text.trimStart()[0];
  const table = start === '{' || start === '[' ? fromJson(path, text) : fromCsv(path, text);
  if (table.rows.length === 0 || table.columns.length === 0)
    throw new Failure(
      'import_empty',
      `${path} has no rows.`,
      'Export a table with a header and a row for each step.',
    );
  requireSize(path, table.rows.length, table.columns.length);
  return table;
}

function requireSize(path: string, rows: number, columns: number): void {
  if (rows > mostRows) throw tooLarge(path, `more than ${mostRows} rows`);
  if (columns > mostColumns) throw tooLarge(path, `more than ${mostColumns} columns`);
}

function readText(path: string): string {
  const unreadable = (reason: string) =>
    new Failure(
      'import_unreadable',
      `Cannot read ${path}: ${reason}.`,
      'Choose a CSV or JSON lines file of metrics per step.',
    );
  let bytes: Buffer;
  try {
    const file = openSync(path, 'r');
    try {
      const stat = fstatSync(file);
      if (!stat.isFile())
        throw unreadable(stat.isDirectory() ? 'it is a folder' : 'it is not a regular file');
      if (stat.size > mostBytes) throw tooLarge(path, `more than ${mostBytes >> 20} MiB`);
      bytes = readFileSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(fileReason(error));
  }
  if (bytes.includes(0)) throw unreadable('it is not text');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable('it is not UTF-8 text');
  }
}

const tooLarge = (path: string, how: string) =>
  new Failure('import_too_large', `${path} has ${how}.`, 'Export fewer columns, or every tenth step.');

const malformed = (path: string, reason: string) =>
  new Failure(
    'import_malformed',
    `${path} is not a valid table: ${reason}`,
    'Export it again and import it unchanged.',
  );

function fromCsv(path: string, whole: string): Table {
  // A spreadsheet's own line: it names the delimiter.
  const [named = '', chosen] = /^"?sep=([,;\t])"?[ \t]*(?:\r\n|\r|\n)/i.exec(whole) ?? [];
  const text = whole.slice(named.length);
  const header = headerOf(text);
  // Where a column of row numbers is called so, nothing is a comment.
  const comment = header.startsWith('#') ? null : '#';
  try {
    const [columns = [], ...rows] = parse(text, {
      delimiter: chosen ?? delimiterOf(header),
      comment,
      comment_no_infix: true,
      skip_empty_lines: true,
      relax_column_count: true,
      to: mostRows + 2,
      max_record_size: 1 << 20,
    }) as string[][];
    return fitting(path, columns, rows);
  } catch (error) {
    if (error instanceof CsvError) throw malformed(path, error.message);
    throw error;
  }
}

/** Returns the first line that is not a comment. */
function headerOf(text: string): string {
  for (const [line] of text.matchAll(/[^\r\n]+/g))
    if (line.trim() !== '' && !/^#(?!\s*[,;\t])/.test(line)) return line;
  return '';
}

/** Of those that trackers and spreadsheets write, the one that the header has most of. */
function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}

/**
 * Cuts rows to the last named column of the header. Cells beyond it must be empty, as a delimiter at the end of a line makes them. The last line may be
 * truncated, because the log may have been copied while it was written.
 */
function fitting(path: string, header: readonly string[], rows: string[][]): Table {
  const width = header.findLastIndex((name) => name.trim() !== '') + 1;
  const whole = rows.filter((row, index) => {
    if (row.length < width && index === rows.length - 1) return false;
    if (row.length < width || row.slice(header.length).some((cell) => cell.trim() !== ''))
      throw malformed(
        path,
        `row ${index + 1} has ${row.length} columns, but the header has ${header.length}.`,
      );
    return true;
  });
  const remarks = whole.length < rows.length ? [lastRowCut] : [];
  return { columns: header.slice(0, width), rows: whole.map((row) => row.slice(0, width)), remarks };
}

const lastRowCut = 'The last row is truncated and was skipped.';

function fromJson(path: string, text: string): Table {
  const { objects, remarks } = objectsIn(path, text);
  const columns = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  // Before the table is made: objects that have no key in common would make one of gigabytes.
  requireSize(path, objects.length, columns.length);
  const cell = (value: unknown) => (value === null || value === undefined ? '' : String(value));
  return { columns, rows: objects.map((object) => columns.map((name) => cell(object[name]))), remarks };
}

function objectsIn(path: string, text: string): { objects: Record<string, unknown>[]; remarks: string[] } {
  const values = jsonIn(text);
  const history = (values as { log_history?: unknown } | undefined)?.log_history;
  const list = Array.isArray(values) ? values : Array.isArray(history) ? history : null;
  const { objects, remarks } = list ? { objects: list, remarks: [] } : linesOf(path, text);
  if (objects.every((each) => typeof each === 'object' && each !== null && !Array.isArray(each)))
    return { objects: objects as Record<string, unknown>[], remarks };
  throw malformed(path, 'it contains values that are not objects.');
}

function linesOf(path: string, text: string): { objects: unknown[]; remarks: string[] } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const objects = lines.map(jsonIn);
  const wrong = objects.indexOf(undefined);
  if (wrong < 0) return { objects, remarks: [] };
  if (wrong > 0 && wrong === lines.length - 1 && !text.endsWith('\n'))
    return { objects: objects.slice(0, -1), remarks: [lastRowCut] };
  throw malformed(path, `line ${wrong + 1} is not valid JSON.`);
}

/** JSON, with NaN and Infinity as Python writes them, which come as texts; undefined for what is none. */
function jsonIn(text: string): unknown {
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
