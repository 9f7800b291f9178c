import { CsvError, parse } from 'csv-parse/sync';
import { count } from '../contract/numbers.ts';
import { isLong, type NamedTable, readLong } from './long-table.ts';
import { Column, lastRowTruncated, malformed, maxColumns, maxRows, type Table, tooLarge } from './table.ts';

/**
 * Reads a CSV file (comma, semicolon or tab). Skips lines that start with `#` and a truncated last line.
 * Throws `import_malformed` or `import_too_large`.
 */
export function readCsv(file: string, whole: string): NamedTable[] {
  // Spreadsheets may write a first line that names the delimiter.
  const [delimiterLine = '', named] = /^"?sep=([,;\t])"?[ \t]*(?:\r\n|\r|\n)/i.exec(whole) ?? [];
  const text = whole.slice(delimiterLine.length);
  const firstLine = headerOf(text);
  const delimiter = named ?? delimiterOf(firstLine);
  // If a column is named `#`, no line is a comment.
  const hasComments = !firstLine.startsWith('#');
  const rows = text.includes('"')
    ? parseQuoted(file, text, delimiter, hasComments)
    : parsePlain(text, delimiter, hasComments);
  return toTables(file, rows[Symbol.iterator]());
}

/** Yields the rows of a file without quotes, which most large files are. */
function* parsePlain(text: string, delimiter: string, hasComments: boolean): Generator<string[]> {
  for (let from = 0; from < text.length; ) {
    let to = text.indexOf('\n', from);
    if (to < 0) to = text.length;
    const line = text.slice(from, text[to - 1] === '\r' ? to - 1 : to);
    if (line.includes('\r')) for (const part of line.split('\r')) yield* rowOf(part);
    else yield* rowOf(line);
    from = to + 1;
  }
  function* rowOf(line: string): Generator<string[]> {
    if (line !== '' && !(hasComments && line.startsWith('#'))) yield line.split(delimiter);
  }
}

function parseQuoted(file: string, text: string, delimiter: string, hasComments: boolean): string[][] {
  try {
    return parse(text, {
      delimiter,
      comment: hasComments ? '#' : null,
      comment_no_infix: true,
      skip_empty_lines: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      to: maxRows + 2,
      max_record_size: 1 << 20,
    }) as string[][];
  } catch (error) {
    if (error instanceof CsvError) throw malformed(file, error.message);
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
 * Reads the rows below the header. Cells beyond the header must be empty; a trailing delimiter creates them. The last line may be truncated,
 * because the log may have been copied while it was written.
 */
function* completeRows(
  file: string,
  lines: Iterator<string[]>,
  header: readonly string[],
  remarks: string[],
): Generator<string[]> {
  const width = widthOf(header);
  let row = 0;
  const refuse = (cells: readonly string[]) =>
    malformed(file, `row ${row + 1} has ${count(cells.length, 'column')}, but the header has ${header.length}.`);
  for (let line = lines.next(); !line.done; row++) {
    const cells = line.value;
    line = lines.next();
    if (cells.length < width) {
      if (!line.done) throw refuse(cells);
      return void remarks.push(lastRowTruncated);
    }
    for (let index = header.length; index < cells.length; index++) if (cells[index]!.trim() !== '') throw refuse(cells);
    if (row >= maxRows) throw tooLarge(file, `more than ${maxRows} rows`);
    yield cells;
  }
}

function* recordsOf(names: readonly string[], rows: Iterable<string[]>): Generator<Record<string, string>> {
  for (const cells of rows) yield Object.fromEntries(names.map((name, at) => [name, cells[at]!]));
}

const widthOf = (header: readonly string[]) => header.findLastIndex((name) => name.trim() !== '') + 1;

function toTables(file: string, lines: Iterator<string[]>): NamedTable[] {
  const header: string[] = lines.next().value ?? [];
  const names = header.slice(0, widthOf(header)).map((name) => name.replace(/\p{Cc}/gu, ' ').trim());
  if (names.length > maxColumns) throw tooLarge(file, `more than ${maxColumns} columns`);
  const remarks: string[] = [];
  const rows = completeRows(file, lines, header, remarks);
  if (isLong(names)) {
    const tables = readLong(file, names, recordsOf(names, rows));
    for (const { table } of tables) table.remarks.push(...remarks);
    return tables;
  }
  const columns = names.map((name) => {
    const column = new Column(name);
    column.mayHideNaN = true;
    return column;
  });
  let rowCount = 0;
  for (const cells of rows) {
    for (let index = 0; index < columns.length; index++) columns[index]!.addText(rowCount, cells[index]!);
    rowCount++;
  }
  return byRun({ columns, rowCount, remarks });
}

/** Splits a W&B export, whose columns are named `run - metric`. `__MIN` and `__MAX` columns are left out. */
function byRun({ columns, ...table }: Table): NamedTable[] {
  const parts = columns.map((column) => {
    const at = column.name.lastIndexOf(' - ');
    return {
      column,
      run: at < 0 ? null : column.name.slice(0, at),
      metric: column.name.slice(at < 0 ? 0 : at + 3).trim(),
    };
  });
  const runs = [...new Set(parts.map(({ run }) => run).filter((run) => run !== null))];
  if (runs.length === 0) return [{ name: null, table: { ...table, columns } }];
  return runs.map((name) => {
    const own = parts.filter(({ run, metric }) => (run === null || run === name) && !/__(MIN|MAX)$/.test(metric));
    return { name, table: { ...table, columns: own.map(({ column, metric }) => column.named(metric)) } };
  });
}
