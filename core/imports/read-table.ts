import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { CsvError, parse } from 'csv-parse/sync';
import { asFailure, Failure } from '../contract/failure.ts';

/** A table as a tracker exports it: what is in its cells is text, and empty where there is nothing. */
export interface Table {
  columns: string[];
  rows: string[][];
}

const mostBytes = 64 << 20;
const mostRows = 200_000;
const mostColumns = 2000;

/**
 * Reads a CSV file (comma, semicolon or tab), or JSON as TRL leaves it: a `trainer_state.json` with its `log_history`, a list of objects, or an object a line. Nothing of it is run.
 * Throws `import_unreadable`, `import_too_large`, `import_empty` or `import_malformed`.
 */
export function readTable(path: string): Table {
  const text = readText(path);
  const start = text.trimStart()[0];
  const table = start === '{' || start === '[' ? fromJson(path, text) : fromCsv(path, text);
  if (table.rows.length === 0 || table.columns.length === 0)
    throw new Failure(
      'import_empty',
      `${path} holds no rows.`,
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
      `${path} can't be read: ${reason}.`,
      'Name a CSV file, or JSON lines, of metrics by step.',
    );
  let bytes: Buffer;
  try {
    const file = openSync(path, 'r');
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) throw unreadable(stat.isDirectory() ? 'it is a folder' : 'it is no file');
      if (stat.size > mostBytes) throw tooLarge(path, `more than ${mostBytes >> 20} MiB`);
      bytes = readFileSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(asFailure(error).message);
  }
  if (bytes.includes(0)) throw unreadable('it is no text');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable('it is no UTF-8 text');
  }
}

const tooLarge = (path: string, how: string) =>
  new Failure('import_too_large', `${path} has ${how}.`, 'Export fewer columns, or every tenth step.');

const malformed = (path: string, reason: string) =>
  new Failure(
    'import_malformed',
    `${path} can't be read as a table: ${reason}`,
    'Export it once more, and import it as it is.',
  );

function fromCsv(path: string, text: string): Table {
  try {
    const [columns = [], ...rows] = parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      skip_empty_lines: true,
      to: mostRows + 2,
      max_record_size: 1 << 20,
    }) as string[][];
    return { columns, rows };
  } catch (error) {
    if (error instanceof CsvError) throw malformed(path, error.message);
    throw error;
  }
}

/** Of those that trackers and spreadsheets write, the one that the header has most of. */
function delimiterOf(text: string): string {
  const header = text.slice(0, text.search(/[\r\n]|$/));
  const count = (delimiter: string) => header.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}

function fromJson(path: string, text: string): Table {
  const objects = objectsIn(path, text);
  const columns = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  // Before the table is made: objects that have no key in common would make one of gigabytes.
  requireSize(path, objects.length, columns.length);
  const cell = (value: unknown) => (value === null || value === undefined ? '' : String(value));
  return { columns, rows: objects.map((object) => columns.map((name) => cell(object[name]))) };
}

function objectsIn(path: string, text: string): Record<string, unknown>[] {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    values = undefined;
  }
  const history = (values as { log_history?: unknown } | undefined)?.log_history;
  const list = Array.isArray(values) ? values : Array.isArray(history) ? history : linesOf(path, text);
  if (list.every((each) => typeof each === 'object' && each !== null && !Array.isArray(each)))
    return list as Record<string, unknown>[];
  throw malformed(path, 'it holds something else than objects.');
}

function linesOf(path: string, text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, index) => {
    try {
      return JSON.parse(line);
    } catch {
      throw malformed(path, `line ${index + 1} is no JSON.`);
    }
  });
}
