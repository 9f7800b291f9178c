import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { CsvError, parse } from 'csv-parse/sync';
import { Failure } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';

/** A table as exported by a tracker. Cells are text; missing cells are empty. */
export interface Table {
  columns: string[];
  rows: string[][];
  /** Sentences about skipped parts. */
  remarks: string[];
}

const maxBytes = 64 << 20;
const maxRows = 200_000;
const maxColumns = 2000;

/**
 * Reads a CSV file (comma, semicolon or tab), or JSON: a `trainer_state.json` of TRL with its `log_history`, a list of objects, or one object per
 * line. Skips CSV lines that start with `#` and a truncated last line.
 * Throws `import_unreadable`, `import_too_large`, `import_empty` or `import_malformed`.
 */
export function readTable(path: string): Table {
  const text = readText(path);
  const start = text.trimStart()[0];
  const table = start === '{' || start === '[' ? fromJson(path, text) : fromCsv(path, text);
  if (table.rows.length === 0 || table.columns.length === 0)
    throw new Failure('import_empty', `${path} has no rows.`, 'Export a table with a header and a row for each step.');
  requireSize(path, table.rows.length, table.columns.length);
  return table;
}

function requireSize(path: string, rows: number, columns: number): void {
  if (rows > maxRows) throw tooLarge(path, `more than ${maxRows} rows`);
  if (columns > maxColumns) throw tooLarge(path, `more than ${maxColumns} columns`);
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
      if (!stat.isFile()) throw unreadable(stat.isDirectory() ? 'it is a folder' : 'it is not a regular file');
      if (stat.size > maxBytes) throw tooLarge(path, `more than ${maxBytes >> 20} MiB`);
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

const tooLarge = (path: string, size: string) =>
  new Failure('import_too_large', `${path} has ${size}.`, 'Export fewer columns, or every tenth step.');

const malformed = (path: string, reason: string) =>
  new Failure(
    'import_malformed',
    `${path} is not a valid table: ${reason}`,
    'Export it again and import it unchanged.',
  );

function fromCsv(path: string, whole: string): Table {
  // Spreadsheets may write a first line that names the delimiter.
  const [delimiterLine = '', delimiter] = /^"?sep=([,;\t])"?[ \t]*(?:\r\n|\r|\n)/i.exec(whole) ?? [];
  const text = whole.slice(delimiterLine.length);
  const header = headerOf(text);
  // If a column is named `#`, no line is a comment.
  const comment = header.startsWith('#') ? null : '#';
  try {
    const [columns = [], ...rows] = parse(text, {
      delimiter: delimiter ?? delimiterOf(header),
      comment,
      comment_no_infix: true,
      skip_empty_lines: true,
      relax_column_count: true,
      to: maxRows + 2,
      max_record_size: 1 << 20,
    }) as string[][];
    return toTable(path, columns, rows);
  } catch (error) {
    if (error instanceof CsvError) throw malformed(path, error.message);
    throw error;
  }
}

/** Returns the first line that is not a comment. */
function headerOf(text: string): string {
  for (const [line] of text.matchAll(/[^\r\n]+/g)) if (line.trim() !== '' && !/^#(?!\s*[,;\t])/.test(line)) return line;
  return '';
}

/** Returns the delimiter that occurs most often in the header. */
function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}

/**
 * Cuts rows to the last named column of the header. Cells beyond the header must be empty; a trailing delimiter creates them. The last line may be
 * truncated, because the log may have been copied while it was written.
 */
function toTable(path: string, header: readonly string[], rows: string[][]): Table {
  const width = header.findLastIndex((name) => name.trim() !== '') + 1;
  const complete = rows.filter((row, index) => {
    if (row.length < width && index === rows.length - 1) return false;
    if (row.length < width || row.slice(header.length).some((cell) => cell.trim() !== ''))
      throw malformed(path, `row ${index + 1} has ${row.length} columns, but the header has ${header.length}.`);
    return true;
  });
  const remarks = complete.length < rows.length ? [lastRowTruncated] : [];
  return { columns: header.slice(0, width), rows: complete.map((row) => row.slice(0, width)), remarks };
}

const lastRowTruncated = 'The last row is truncated and was skipped.';

function fromJson(path: string, text: string): Table {
  const { objects, remarks } = readObjects(path, text);
  const columns = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  // Check first: objects without common keys would create a table of gigabytes.
  requireSize(path, objects.length, columns.length);
  const cell = (value: unknown) => (value === null || value === undefined ? '' : String(value));
  return { columns, rows: objects.map((object) => columns.map((name) => cell(object[name]))), remarks };
}

function readObjects(path: string, text: string): { objects: Record<string, unknown>[]; remarks: string[] } {
  const values = parseJson(text);
  const history = (values as { log_history?: unknown } | undefined)?.log_history;
  const list = Array.isArray(values) ? values : Array.isArray(history) ? history : null;
  const { objects, remarks } = list ? { objects: list, remarks: [] } : readLines(path, text);
  if (objects.every((each) => typeof each === 'object' && each !== null && !Array.isArray(each)))
    return { objects: objects as Record<string, unknown>[], remarks };
  throw malformed(path, 'it contains values that are not objects.');
}

function readLines(path: string, text: string): { objects: unknown[]; remarks: string[] } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const objects = lines.map(parseJson);
  const invalid = objects.indexOf(undefined);
  if (invalid < 0) return { objects, remarks: [] };
  if (invalid > 0 && invalid === lines.length - 1 && !text.endsWith('\n'))
    return { objects: objects.slice(0, -1), remarks: [lastRowTruncated] };
  throw malformed(path, `line ${invalid + 1} is not valid JSON.`);
}

/** Parses JSON. Returns Python's NaN and Infinity as text, and undefined for invalid JSON. */
function parseJson(text: string): unknown {
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
