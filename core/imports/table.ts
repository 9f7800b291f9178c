import { Failure } from '../contract/failure.ts';

/** A file of another program to import. */
export interface InputFile {
  /** Path relative to what the user chose, with `/`. */
  name: string;
  bytes: Buffer;
}

export const maxRows = 200_000;
export const maxColumns = 2000;

/** A column of a table with the numbers of its cells. NaN stands for any number that isn't finite. */
export class Column {
  readonly name: string;
  /** Rows that have a value, in the order in which they were added. */
  readonly rows: number[] = [];
  readonly values: number[] = [];
  /** First cell that isn't a number. */
  text: { row: number; text: string } | null = null;
  /** Whether a cell without a value may be NaN: pandas writes NaN as an empty CSV cell and as null in JSON. */
  mayHideNaN = false;

  constructor(name: string) {
    this.name = name;
  }

  add(row: number, value: number): void {
    this.rows.push(row);
    this.values.push(Number.isFinite(value) ? value : Number.NaN);
  }

  /** Adds a cell of text. Empty cells have no value. */
  addText(row: number, text: string): void {
    const value = numberIn(text, this.isTime);
    if (value === undefined) this.text ??= { row, text };
    else if (value !== null) this.add(row, value);
  }

  /** Whether the column contains wall-clock times, according to its name. */
  get isTime(): boolean {
    return /^(_?timestamp|wall[ _]time|time)$/i.test(this.name);
  }

  /** Returns the same column under another name. */
  named(name: string): Column {
    return Object.assign(Object.create(Column.prototype) as Column, { ...this, name });
  }
}

/** The metrics of one run in a file. A column has at most one value per row unless steps are repeated. */
export interface Table {
  columns: Column[];
  rowCount: number;
  /** Sentences about skipped parts. */
  remarks: string[];
}

/** Collects columns by name. Throws `import_too_large`. */
export class TableBuilder {
  rowCount = 0;
  readonly remarks: string[] = [];
  private readonly file: string;
  private readonly columns = new Map<string, Column>();
  /** Rows by step. */
  private readonly rows = new Map<number, number>();

  constructor(file: string) {
    this.file = file;
  }

  column(name: string): Column {
    let column = this.columns.get(name);
    if (!column) {
      column = new Column(name);
      this.columns.set(name, column);
      if (this.columns.size > maxColumns) throw tooLarge(this.file, `more than ${maxColumns} columns`);
    }
    return column;
  }

  /** Starts a row and returns its number. */
  addRow(): number {
    if (this.rowCount >= maxRows) throw tooLarge(this.file, `more than ${maxRows} rows`);
    return this.rowCount++;
  }

  /** Returns the row of a step. Adds it with this time if it is missing. */
  rowOf(step: number, timeColumn: string, time: number): number {
    const existing = this.rows.get(step);
    if (existing !== undefined) return existing;
    const row = this.addRow();
    this.rows.set(step, row);
    this.column('step').add(row, step);
    this.column(timeColumn).add(row, time);
    return row;
  }

  build(): Table {
    return { columns: [...this.columns.values()], rowCount: this.rowCount, remarks: this.remarks };
  }
}

export const tooLarge = (file: string, size: string) =>
  new Failure('import_too_large', `${file} has ${size}.`, 'Export fewer columns, or every tenth step.');

export const malformed = (file: string, reason: string) =>
  new Failure('import_malformed', `${file} is invalid: ${reason}`, 'Export it again and import it unchanged.');

export const lastRowTruncated = 'The last row is truncated and was skipped.';

/** Returns null for an empty cell and undefined for a cell that is not a number. `isTime` also accepts ISO 8601, as ms since the epoch. */
function numberIn(text: string, isTime: boolean): number | null | undefined {
  if (text === '') return null;
  // Nearly all of up to millions of cells are plain numbers.
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  const trimmed = text.trim();
  if (trimmed === '') return null;
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
  if (/^(null|none|n\/a)$/i.test(trimmed)) return null;
  if (/^[+-]?(nan|inf|infinity)$/i.test(trimmed)) return Number.NaN;
  if (!isTime || !/^\d{4}-\d\d-\d\d/.test(trimmed)) return undefined;
  const time = Date.parse(trimmed);
  return Number.isNaN(time) ? undefined : time;
}

export const shortened = (text: string) => {
  const shown = text.replace(/\p{Cc}/gu, ' ');
  return shown.length > 60 ? `${shown.slice(0, 60)}...` : shown;
};

export const listed = (names: readonly string[]) =>
  names.slice(0, 8).map(shortened).join(', ') + (names.length > 8 ? `, and ${names.length - 8} more` : '') || 'none';
