import { Failure } from '../contract/failure.ts';
import type { ImportSource } from '../contract/imports.ts';
import { count } from '../contract/numbers.ts';
import { listWithOr } from '../contract/sentence.ts';
import { findBreak, finite, isEvaluation, notFinite } from './broken-metrics.ts';
import { panelColumns, stepColumns, trackerColumns } from './metric-names.ts';
import { nameColumns } from './name-columns.ts';
import { type Column, shortened, type Table } from './table.ts';

/** A metric of a run to import. */
export interface ImportedMetric {
  name: string;
  /** Its name in the file. */
  column: string;
  /** Values by index of the step, in ascending order. Values that aren't finite are left out. */
  at: number[];
  values: number[];
  /** Index of the step from which it is NaN or infinite until the end. */
  brokenFrom: number | null;
}

/** The metrics of a table by step. */
export interface ImportedMetrics {
  /** In ascending order. */
  steps: number[];
  /** Time of each step in ms since the epoch, or null if the table has no times. */
  times: (number | null)[];
  metrics: ImportedMetric[];
  /** Columns that have a StarPO name. */
  mapped: Set<string>;
  /** Sentences about skipped or changed parts. */
  remarks: string[];
}

const maxStep = 1_000_000;

/**
 * Converts a table to metrics per step. `progress` receives the fraction done. Throws `import_no_step`, `import_step_invalid`,
 * `import_no_metric` if no column is known, `import_not_numeric`, `import_not_a_share` or `import_empty`.
 */
export function readMetrics(
  table: Table,
  from: ImportSource,
  progress: (share: number) => void = () => {},
): ImportedMetrics {
  if (table.rowCount === 0 || table.columns.length === 0)
    throw new Failure('import_empty', 'The table is empty.', 'Export a table with a header and a row for each step.');
  const remarks = [...table.remarks];
  const [stepColumn, ...others] = findSteps(table.columns);
  const time = timeColumn(table.columns);
  const named = nameColumns(metricColumns(table.columns), from, remarks);
  const { steps, indexOfRow, isSorted } = stepsOf(stepColumn, others, table.rowCount, remarks);
  const skipped = { notFinite: 0, replaced: 0 };
  const read = named.map(({ column, name, isMapped }, done) => {
    progress(done / named.length);
    const valueAt = new Float64Array(steps.length);
    const state = new Uint8Array(steps.length);
    for (let cell = 0; cell < column.rows.length; cell++) {
      const index = indexOfRow[column.rows[cell]!]!;
      if (index < 0) continue;
      const value = column.values[cell]!;
      if (Number.isNaN(value)) {
        skipped.notFinite += 1;
        state[index]! |= notFinite;
      } else {
        if (state[index]! & finite) skipped.replaced += 1;
        state[index]! |= finite;
        valueAt[index] = value;
      }
    }
    const at: number[] = [];
    const values: number[] = [];
    for (let index = 0; index < steps.length; index++)
      if (state[index]! & finite) {
        at.push(index);
        values.push(valueAt[index]!);
      }
    if (isMapped && name.endsWith('/success_rate')) requireShares(column.name, values);
    return { name, isMapped, column, state, at, values };
  });
  // Trackers export runs of different lengths as one table.
  const lengthOf = (state: Uint8Array) => 1 + state.findLastIndex((cell) => cell !== 0);
  steps.splice(read.reduce((longest, { state }) => Math.max(longest, lengthOf(state)), 0));
  if (read.every(({ at }) => at.length === 0))
    throw new Failure(
      'import_empty',
      'The metric columns contain no finite number.',
      'Export the table again with the values of the metrics.',
    );
  const trained = new Uint8Array(steps.length);
  for (const { name, at } of read) if (!isEvaluation(name)) for (const index of at) trained[index] = 1;
  let broken = 0;
  const metrics = read.map(({ name, column, at, values, ...each }) => {
    const state = each.state.subarray(0, steps.length);
    const found = findBreak(name, state, column.mayHideNaN ? trained : null);
    if (found) {
      const step = steps[found.from]!;
      broken += state.subarray(found.from).reduce((sum, each) => sum + (each === notFinite ? 1 : 0), 0);
      remarks.push(
        found.isExplicit
          ? `"${shortened(column.name)}" is NaN or infinite from step ${step}.`
          : `"${shortened(column.name)}" has no value from step ${step}, where other metrics do. It is read as NaN, because pandas leaves cells with NaN empty.`,
      );
    }
    return { name, column: column.name, at, values, brokenFrom: found?.from ?? null };
  });
  if (skipped.notFinite > broken)
    remarks.push(`${count(skipped.notFinite - broken, 'cell')} with NaN or Infinity skipped.`);
  if (skipped.replaced > 0)
    remarks.push(`Steps are repeated: ${count(skipped.replaced, 'earlier value')} replaced by later ones.`);
  if (!isSorted) remarks.push('Steps were out of order and have been sorted.');
  const times: (number | null)[] = steps.map(() => null);
  if (time)
    for (const [cell, row] of time.rows.entries()) {
      const index = indexOfRow[row]!;
      if (index >= 0 && index < steps.length) times[index] = inMs(time.values[cell]!);
    }
  const mapped = new Set(read.filter(({ isMapped }) => isMapped).map(({ column }) => column.name));
  return { steps, times, metrics, mapped, remarks };
}

/** Throws `import_not_a_share` for success rates in percent. */
function requireShares(column: string, values: readonly number[]): void {
  const outside = values.find((value) => value < -rounding || value > 1 + rounding);
  if (outside === undefined) return;
  throw new Failure(
    'import_not_a_share',
    `Column "${shortened(column)}" is a success rate, but has the value ${outside}, which is not from 0 to 1.`,
    'Divide the column by 100 if it is in percent. Otherwise give it another name.',
  );
}

/** Tolerance for rates that were computed as sums of floats. */
const rounding = 1e-4;

/** Returns the columns of steps, best first. Throws `import_no_step`. */
function findSteps(columns: readonly Column[]): [Column, ...Column[]] {
  const [first, ...others] = stepColumns.flatMap(
    (stepColumn) => columns.find(({ name }) => name.toLowerCase() === stepColumn) ?? [],
  );
  if (first) return [first, ...others];
  throw new Failure('import_no_step', 'No step column found.', `Name a column ${listWithOr(stepColumns)}.`);
}

/** Returns the steps in ascending order, and the index of the step of each row, or -1 for rows without a step. */
function stepsOf(column: Column, others: readonly Column[], rowCount: number, remarks: string[]) {
  if (column.text) throw invalidStep(column.text.row, column.text.text);
  const stepOfRow = new Float64Array(rowCount).fill(-1);
  for (const [cell, row] of column.rows.entries()) {
    const step = column.values[cell]!;
    if (!Number.isInteger(step) || step < 0 || step > maxStep) throw invalidStep(row, String(step));
    stepOfRow[row] = step;
  }
  for (const other of others) fillSteps(stepOfRow, other);
  const present = stepOfRow.filter((step) => step >= 0);
  if (present.length < rowCount) remarks.push(`${count(rowCount - present.length, 'row')} without a step skipped.`);
  const steps = [...new Set(present)].sort((a, b) => a - b);
  const indexOf = new Map(steps.map((step, index) => [step, index]));
  const isSorted = present.every((step, index) => index === 0 || step >= present[index - 1]!);
  return { steps, indexOfRow: [...stepOfRow].map((step) => indexOf.get(step) ?? -1), isSorted };
}

/** Fills rows without a step from another column that agrees with it: verl's validation before training has no `training/global_step`. */
function fillSteps(stepOfRow: Float64Array, { rows, values, text }: Column): void {
  const shared = rows.flatMap((row, cell) => (stepOfRow[row]! >= 0 ? [stepOfRow[row] === values[cell]] : []));
  if (text !== null || shared.length === 0 || shared.includes(false)) return;
  for (const [cell, row] of rows.entries()) {
    const step = values[cell]!;
    if (stepOfRow[row]! < 0 && Number.isInteger(step) && step >= 0 && step <= maxStep) stepOfRow[row] = step;
  }
}

const invalidStep = (row: number, text: string) =>
  new Failure(
    'import_step_invalid',
    `Row ${row + 1} has the step "${shortened(text)}".`,
    `Steps are whole numbers from 0 to ${maxStep}.`,
  );

/** Returns the columns that may be metrics: those with a name, without steps, times and what trackers add to each row. */
export function metricColumns(columns: readonly Column[]): Column[] {
  const time = timeColumn(columns);
  const isMetric = ({ name }: Column) =>
    name !== '' &&
    ![trackerColumns, panelColumns].some((pattern) => pattern.test(name)) &&
    !stepColumns.includes(name.toLowerCase());
  return columns.filter((column) => column !== time && isMetric(column));
}

const [firstTime, lastTime] = [Date.UTC(2000, 0), Date.UTC(2100, 0)];

/** Converts seconds since the epoch to ms. */
const inMs = (time: number) => Math.round(time < firstTime / 100 ? time * 1000 : time);

/** Returns the column with the wall-clock time of each row. */
function timeColumn(columns: readonly Column[]): Column | null {
  const isClock = (column: Column) =>
    column.isTime &&
    column.text === null &&
    column.values.every((time) => inMs(time) >= firstTime && inMs(time) < lastTime);
  return columns.find((column) => column.values.length > 0 && isClock(column)) ?? null;
}
