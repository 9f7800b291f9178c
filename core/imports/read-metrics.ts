import { Failure } from '../contract/failure.ts';
import {
  dependsOnWeights,
  type ImportSource,
  isInEveryUpdate,
  starpoName,
  stepColumns,
  substitutesFor,
  trackerColumns,
  withoutLabel,
} from './metric-names.ts';
import type { Table } from './read-table.ts';

interface ImportedStep {
  step: number;
  metrics: Record<string, number>;
  /** Metrics that are NaN or infinite from this step on. */
  notFinite: string[];
}

/** The metrics of a table by step. */
export interface ImportedMetrics {
  /** In ascending order. */
  steps: ImportedStep[];
  /** Column names by metric name. */
  names: Record<string, string>;
  /** Sentences about skipped or changed parts. */
  remarks: string[];
}

const maxStep = 1_000_000;
/** Limit of the API. */
const maxNameLength = 128;

/**
 * Converts a table to metrics per step. `progress` receives the fraction done. Throws `import_no_step`, `import_step_invalid`, `import_no_metric`
 * if no column is known, `import_not_numeric`, or `import_several_runs` if the table has several runs and none is chosen.
 */
export function readMetrics(
  table: Table,
  from: ImportSource,
  chosenRun?: string,
  progress: (share: number) => void = () => {},
): ImportedMetrics {
  const remarks = [...table.remarks];
  const columns = columnsOfRun(table.columns, chosenRun);
  const stepAt = findStep(columns);
  const metricColumns = nameColumns(columns, from, stepAt, table, remarks, progress);
  const order = [...stepsOf(table, stepAt, remarks)];
  const bySteps = new Map<number, ReadStep>();
  const skipped = { notFinite: 0, replaced: 0 };
  for (const [at, { step, row }] of order.entries()) {
    if (at % 1000 === 0) progress(0.5 + at / order.length / 2);
    const read = bySteps.get(step) ?? { step, metrics: {}, notFinite: new Set() };
    bySteps.set(step, read);
    const { metrics, notFinite } = read;
    for (const { index, name } of metricColumns) {
      const value = numberIn(row[index] ?? '');
      if (value === null || value === undefined) continue;
      if (!Number.isFinite(value)) {
        skipped.notFinite += 1;
        notFinite.add(name);
      } else {
        if (metrics[name] !== undefined) skipped.replaced += 1;
        metrics[name] = value;
      }
    }
  }
  const read = [...bySteps.values()].sort((a, b) => a.step - b.step);
  if (!read.some(isMeasured))
    throw new Failure('import_empty', 'No step has a value.', 'Export a table with one row per step.');
  const broken = new Map<string, number>();
  for (const { name, column } of metricColumns) {
    const from = brokenFrom(read, name);
    if (from === null) continue;
    broken.set(name, from);
    remarks.push(`"${shortened(column)}" is NaN or infinite from step ${from}.`);
  }
  const isBroken = (name: string, step: number) => step >= (broken.get(name) ?? Number.POSITIVE_INFINITY);
  const steps = read
    .map(({ notFinite, ...rest }) => ({
      ...rest,
      notFinite: [...notFinite].filter((name) => isBroken(name, rest.step)),
    }))
    .filter((each) => isMeasured(each) || each.notFinite.length > 0);
  const ignored = skipped.notFinite - steps.reduce((sum, each) => sum + each.notFinite.length, 0);
  if (ignored > 0) remarks.push(`${count(ignored, 'cell')} with NaN or Infinity skipped.`);
  if (skipped.replaced > 0)
    remarks.push(`Steps are repeated: the last of ${count(skipped.replaced, 'repeated value')} is used.`);
  if (order.some(({ step }, index) => index > 0 && step < order[index - 1]!.step))
    remarks.push('Steps were out of order and have been sorted.');
  return {
    steps,
    names: Object.fromEntries(metricColumns.map(({ name, column }) => [name, column])),
    remarks,
  };
}

interface ReadStep {
  step: number;
  metrics: Record<string, number>;
  notFinite: Set<string>;
}

const isMeasured = ({ metrics }: Pick<ReadStep, 'metrics'>) => Object.keys(metrics).length > 0;

/** Minimum number of last steps without a finite value. Exports may end with rows, such as a last evaluation, that have NaN for update metrics. */
const minMissing = 3;

/**
 * Returns the step from which a metric that depends on the weights is NaN or infinite until the end, or null. Exports also write NaN if a metric
 * was not logged. Therefore the gap at the end must be longer than all gaps before and than a few steps.
 */
function brokenFrom(steps: readonly ReadStep[], name: string): number | null {
  if (!dependsOnWeights.test(name)) return null;
  let [missing, longest, wasFinite] = [0, 0, isInEveryUpdate.test(name)];
  let from: number | null = null;
  for (const { step, metrics, notFinite } of steps) {
    if (metrics[name] === undefined) {
      missing += 1;
      if (notFinite.has(name)) from ??= step;
    } else {
      longest = Math.max(longest, missing);
      [missing, wasFinite, from] = [0, true, null];
    }
  }
  return wasFinite && missing >= minMissing && missing > longest ? from : null;
}

/** Returns the metric of each column, or null for other runs and for `__MIN` and `__MAX` columns. W&B exports name columns `run - metric`. */
function columnsOfRun(columns: readonly string[], chosenRun: string | undefined): (string | null)[] {
  const parts = columns.map((header) => {
    const column = header.replace(/\p{Cc}/gu, ' ');
    const at = column.lastIndexOf(' - ');
    return at < 0
      ? { run: null, name: column.trim() }
      : { run: column.slice(0, at), name: column.slice(at + 3).trim() };
  });
  const runs = [...new Set(parts.flatMap(({ run }) => run ?? []))];
  const run = chosenRun ?? runs[0];
  if (runs.length > 1 && chosenRun === undefined)
    throw new Failure(
      'import_several_runs',
      `The file has columns from ${runs.length} runs: ${listed(runs)}.`,
      'Choose one with --run.',
    );
  if (chosenRun !== undefined && !runs.includes(chosenRun))
    throw new Failure(
      'import_several_runs',
      `The file has no columns from a run "${chosenRun}".`,
      runs.length > 0 ? `Choose one of ${listed(runs)}.` : 'The file has only one run; omit --run.',
    );
  return parts.map((part) =>
    (part.run !== null && part.run !== run) || /__(MIN|MAX)$/.test(part.name) ? null : part.name,
  );
}

function findStep(columns: readonly (string | null)[]): number {
  for (const stepColumn of stepColumns) {
    const index = columns.findIndex((name) => name?.toLowerCase() === stepColumn);
    if (index >= 0) return index;
  }
  throw new Failure('import_no_step', 'No step column found.', `Name one ${stepColumns.join(', ')}.`);
}

/** Returns the metric columns with their metric names. */
function nameColumns(
  columns: readonly (string | null)[],
  from: ImportSource,
  stepAt: number,
  table: Table,
  remarks: string[],
  progress: (share: number) => void,
) {
  const found = columns.flatMap((column, index) => {
    const ignored = column === null || column === '' || index === stepAt;
    if (ignored || trackerColumns.test(column) || stepColumns.includes(column.toLowerCase())) return [];
    return [{ column, index, name: starpoName(from, column) }];
  });
  // In users' own tables, an exact name takes precedence over a common name.
  const exact = new Set(found.flatMap(({ column, name }) => (column === name ? name : [])));
  for (const each of found) if (each.name !== each.column && exact.has(each.name ?? '')) each.name = null;
  for (const [column, name, difference] of substitutesFor(from)) {
    const substitute = found.find((each) => each.column === column);
    if (!substitute || found.some((each) => each.name === name)) continue;
    substitute.name = name;
    remarks.push(`No column matches ${name}; using "${column}" instead: ${difference}.`);
  }
  const names = found.flatMap(({ name }) => name ?? []);
  if (names.length === 0)
    throw new Failure(
      'import_no_metric',
      `No column is a known metric of ${from === 'csv' ? 'StarPO Studio' : from}.`,
      `The file has ${listed(found.map(({ column }) => column))}. Try another --from; docs/formats/imported-run.md lists the names.`,
    );
  const labels = new Set(names.flatMap((name) => /^rollout\/([^/]+)\/[^/]+$/.exec(name)?.[1] ?? []));
  const used = new Set<string>();
  return found.flatMap(({ column, index, name: starpo }, done) => {
    progress(done / found.length / 2);
    const name = starpo === null ? `${from}/${column}` : labels.size > 1 ? starpo : withoutLabel(starpo);
    const invalid = notNumericRow(table, index);
    if (invalid !== null && starpo !== null) throw notNumeric(column, invalid.row, invalid.text);
    if (invalid === null && name.length <= maxNameLength && !used.has(name)) {
      used.add(name);
      return [{ column, index, name }];
    }
    const reason =
      invalid !== null
        ? 'it is not numeric'
        : used.has(name)
          ? 'another column has the same meaning'
          : 'its name is too long';
    remarks.push(`Column "${shortened(column)}" was skipped: ${reason}.`);
    return [];
  });
}

function notNumericRow({ rows }: Table, index: number): { row: number; text: string } | null {
  const row = rows.findIndex((cells) => numberIn(cells[index] ?? '') === undefined);
  return row < 0 ? null : { row, text: rows[row]![index]! };
}

const notNumeric = (column: string, row: number, text: string) =>
  new Failure(
    'import_not_numeric',
    `Column "${shortened(column)}" has "${shortened(text)}" in row ${row + 1}, which is not a number.`,
    'Correct or clear the cell. Use a decimal point.',
  );

/** Yields the rows with a step and skips the others. */
function* stepsOf({ rows }: Table, stepAt: number, remarks: string[]) {
  let without = 0;
  for (const [index, row] of rows.entries()) {
    const text = row[stepAt] ?? '';
    const step = numberIn(text);
    if (step === null) without += 1;
    else if (step === undefined || !Number.isInteger(step) || step < 0 || step > maxStep)
      throw new Failure(
        'import_step_invalid',
        `Row ${index + 1} has the step "${shortened(text)}".`,
        `Steps are whole numbers from 0 to ${maxStep}.`,
      );
    else yield { step, row };
  }
  if (without > 0) remarks.push(`${count(without, 'row')} without a step skipped.`);
}

/** Returns null for an empty cell and undefined for a cell that is not a number. */
function numberIn(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  // Check numbers first: nearly all of up to millions of cells are.
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
  if (/^(null|none|n\/a)$/i.test(trimmed)) return null;
  return /^[+-]?(nan|inf|infinity)$/i.test(trimmed) ? Number.NaN : undefined;
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
const shortened = (text: string) => {
  const shown = text.replace(/\p{Cc}/gu, ' ');
  return shown.length > 60 ? `${shown.slice(0, 60)}...` : shown;
};
const listed = (names: readonly string[]) =>
  names.slice(0, 8).map(shortened).join(', ') + (names.length > 8 ? `, and ${names.length - 8} more` : '') || 'none';
