import { Failure } from '../contract/failure.ts';
import {
  followsFromWeights,
  type ImportSource,
  ofEveryUpdate,
  ourName,
  standInsOf,
  stepColumns,
  trackerColumns,
  withoutLabel,
} from './metric-names.ts';
import type { Table } from './read-table.ts';

export interface ImportedStep {
  step: number;
  metrics: Record<string, number>;
  /** Metrics that had become NaN or infinite for good. */
  notFinite: string[];
}

/** What a table holds, step by step, by our names. */
export interface ImportedMetrics {
  /** In rising order. */
  steps: ImportedStep[];
  /** The file's name of each metric, by the name it got. */
  names: Record<string, string>;
  /** Sentences on what was passed over or put in order. */
  remarks: string[];
}

const lastStep = 1_000_000;
/** Of a metric; the API takes no longer ones. */
const longestName = 128;

/**
 * `progress` is called with the fraction done. Throws `import_no_step`, `import_step_invalid`, `import_no_metric` if no column is known,
 * `import_not_numeric`, or `import_several_runs` if the table has several runs and none is chosen.
 */
export function readMetrics(
  table: Table,
  from: ImportSource,
  chosenRun?: string,
  progress: (share: number) => void = () => {},
): ImportedMetrics {
  const remarks = [...table.remarks];
  const columns = ofOneRun(table.columns, chosenRun);
  const stepAt = findStep(columns);
  const named = nameColumns(columns, from, stepAt, table, remarks, progress);
  const order = [...stepsOf(table, stepAt, remarks)];
  const bySteps = new Map<number, ReadStep>();
  const skipped = { notFinite: 0, replaced: 0 };
  for (const [at, { step, row }] of order.entries()) {
    if (at % 1000 === 0) progress(0.5 + at / order.length / 2);
    const read = bySteps.get(step) ?? { step, metrics: {}, notFinite: new Set() };
    bySteps.set(step, read);
    const { metrics, notFinite } = read;
    for (const { index, name } of named) {
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
  for (const { name, column } of named) {
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
  const passedOver = skipped.notFinite - steps.reduce((sum, each) => sum + each.notFinite.length, 0);
  if (passedOver > 0) remarks.push(`${count(passedOver, 'cell')} with NaN or Infinity skipped.`);
  if (skipped.replaced > 0)
    remarks.push(`Steps are repeated: the last of ${count(skipped.replaced, 'repeated value')} is used.`);
  if (order.some(({ step }, index) => index > 0 && step < order[index - 1]!.step))
    remarks.push('Steps were out of order and have been sorted.');
  return { steps, names: Object.fromEntries(named.map(({ name, column }) => [name, column])), remarks };
}

interface ReadStep {
  step: number;
  metrics: Record<string, number>;
  notFinite: Set<string>;
}

const isMeasured = ({ metrics }: Pick<ReadStep, 'metrics'>) => Object.keys(metrics).length > 0;

/** Exports end with rows of their own, as of a last evaluation, which have NaN for all that an update would say. */
const fewestAway = 3;

/**
 * The step from which a metric that follows from the weights is NaN or infinite up to the run's end, or null. Exports also write NaN where a metric wasn't logged: what stays away
 * no longer than it did before, or only for a last step or two, is only that.
 */
function brokenFrom(steps: readonly ReadStep[], name: string): number | null {
  if (!followsFromWeights.test(name)) return null;
  let [away, longest, wasFinite] = [0, 0, ofEveryUpdate.test(name)];
  let from: number | null = null;
  for (const { step, metrics, notFinite } of steps) {
    if (metrics[name] === undefined) {
      away += 1;
      if (notFinite.has(name)) from ??= step;
    } else {
      longest = Math.max(longest, away);
      [away, wasFinite, from] = [0, true, null];
    }
  }
  return wasFinite && away >= fewestAway && away > longest ? from : null;
}

/** Each column's metric, null where it is of another run or a companion (`__MIN`, `__MAX`): W&B's exports say `run - metric`. */
function ofOneRun(columns: readonly string[], chosenRun: string | undefined): (string | null)[] {
  const parts = columns.map((written) => {
    const column = written.replace(/\p{Cc}/gu, ' ');
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
      `The file has the columns of ${runs.length} runs: ${listed(runs)}.`,
      'Choose one with --run.',
    );
  if (chosenRun !== undefined && !runs.includes(chosenRun))
    throw new Failure(
      'import_several_runs',
      `The file has no columns of a run "${chosenRun}".`,
      runs.length > 0 ? `Choose one of ${listed(runs)}.` : 'Its columns are of one run: leave --run out.',
    );
  return parts.map((part) =>
    (part.run !== null && part.run !== run) || /__(MIN|MAX)$/.test(part.name) ? null : part.name,
  );
}

function findStep(columns: readonly (string | null)[]): number {
  for (const wanted of stepColumns) {
    const index = columns.findIndex((name) => name?.toLowerCase() === wanted);
    if (index >= 0) return index;
  }
  throw new Failure('import_no_step', 'No step column found.', `Name one ${stepColumns.join(', ')}.`);
}

/** The columns that hold metrics, with the names that these get. */
function nameColumns(
  columns: readonly (string | null)[],
  from: ImportSource,
  stepAt: number,
  table: Table,
  remarks: string[],
  progress: (share: number) => void,
) {
  const found = columns.flatMap((column, index) => {
    const other = column === null || column === '' || index === stepAt;
    if (other || trackerColumns.test(column) || stepColumns.includes(column.toLowerCase())) return [];
    return [{ column, index, ours: ourName(from, column) }];
  });
  // Of a table of one's own: a column by our name goes before one that is only called alike.
  const own = new Set(found.flatMap(({ column, ours }) => (column === ours ? ours : [])));
  for (const each of found) if (each.ours !== each.column && own.has(each.ours ?? '')) each.ours = null;
  for (const [column, ours, as] of standInsOf(from)) {
    const standIn = found.find((each) => each.column === column);
    if (!standIn || found.some((each) => each.ours === ours)) continue;
    standIn.ours = ours;
    remarks.push(`No column matches ${ours}; using "${column}" instead: ${as}.`);
  }
  const ours = found.filter((each) => each.ours !== null);
  if (ours.length === 0)
    throw new Failure(
      'import_no_metric',
      `No column is a known metric of ${from === 'csv' ? 'StarPO Studio' : from}.`,
      `The file has ${listed(found.map(({ column }) => column))}. Try another --from; docs/formats/imported-run.md lists the names.`,
    );
  const labels = new Set(ours.flatMap(({ ours }) => /^rollout\/([^/]+)\/[^/]+$/.exec(ours!)?.[1] ?? []));
  const taken = new Set<string>();
  return found.flatMap(({ column, index, ours }, done) => {
    progress(done / found.length / 2);
    const wanted = ours === null ? `${from}/${column}` : labels.size > 1 ? ours : withoutLabel(ours);
    const wrong = notNumericRow(table, index);
    if (wrong !== null && ours !== null) throw notNumeric(column, wrong.row, wrong.text);
    if (wrong === null && wanted.length <= longestName && !taken.has(wanted)) {
      taken.add(wanted);
      return [{ column, index, name: wanted }];
    }
    const why =
      wrong !== null
        ? 'it is not numeric'
        : taken.has(wanted)
          ? 'another column has the same meaning'
          : 'its name is too long';
    remarks.push(`Column "${shortened(column)}" was skipped: ${why}.`);
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

/** Rows without a step are passed over. */
function* stepsOf({ rows }: Table, stepAt: number, remarks: string[]) {
  let without = 0;
  for (const [index, row] of rows.entries()) {
    const text = row[stepAt] ?? '';
    const step = numberIn(text);
    if (step === null) without += 1;
    else if (step === undefined || !Number.isInteger(step) || step < 0 || step > lastStep)
      throw new Failure(
        'import_step_invalid',
        `Row ${index + 1} has the step "${shortened(text)}".`,
        `Steps are whole numbers from 0 to ${lastStep}.`,
      );
    else yield { step, row };
  }
  if (without > 0) remarks.push(`${count(without, 'row')} without a step skipped.`);
}

/** Returns null for an empty cell and undefined for one that is not a number. */
function numberIn(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  // Nearly all are numbers, and there may be millions.
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
  if (/^(null|none|n\/a)$/i.test(trimmed)) return null;
  return /^[+-]?(nan|inf|infinity)$/i.test(trimmed) ? Number.NaN : undefined;
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
const shortened = (text: string) => {
  const shown = text.replace(/\p{Cc}/gu, ' ');
  return shown.length > 60 ? `${shown.slice(0, 60)}...` : shown;
};
const listed = (names: readonly string[]) =>
  names.slice(0, 8).map(shortened).join(', ') + (names.length > 8 ? `, and ${names.length - 8} more` : '') ||
  'none';
