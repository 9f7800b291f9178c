import { Failure } from '../contract/failure.ts';
import type { ImportSource } from '../contract/imports.ts';
import { assumptionOf, labelIn, starpoNames, substitutesFor, withoutLabel } from './metric-names.ts';
import { type Column, listed, shortened } from './table.ts';

/** Maximum length of a metric name in core's API. */
const maxNameLength = 128;

export const sourceTitles: Record<ImportSource, string> = {
  starpo: 'StarPO Studio',
  ragen: 'RAGEN',
  verl: 'verl',
  trl: 'TRL',
  other: 'StarPO Studio',
};

export interface NamedColumn {
  column: Column;
  name: string;
  /** Whether StarPO Studio knows the metric. Others keep their name after the trainer's. */
  isMapped: boolean;
}

/** Names the metric columns and leaves out those that can't be imported, with a remark. Throws `import_no_metric` or `import_not_numeric`. */
export function nameColumns(columns: readonly Column[], from: ImportSource, remarks: string[]): NamedColumn[] {
  const columnNames = columns.map(({ name }) => name);
  const names = starpoNames(from, columnNames);
  // In users' own tables, an exact name takes precedence over a common name.
  const exact = new Set(columnNames.filter((column) => names.get(column) === column));
  for (const [column, name] of names) if (name !== column && exact.has(name)) names.delete(column);
  for (const [column, name, difference] of substitutesFor(from)) {
    if (!columnNames.includes(column) || [...names.values()].includes(name)) continue;
    names.set(column, name);
    remarks.push(`No column matches ${name}; using "${column}" instead: ${difference}.`);
  }
  if (names.size === 0)
    throw new Failure(
      'import_no_metric',
      `No column is a metric of ${sourceTitles[from]}.`,
      columnNames.length === 0
        ? 'The file has no columns besides the step and the time. Export it with its metrics.'
        : `The file has ${listed(columnNames)}. Choose another trainer (--from), or rename the columns: docs/formats/imported-run.md lists the names.`,
    );
  const labels = new Set(
    [...names.values()].filter((name) => name.startsWith('rollout/')).flatMap((name) => labelIn(name) ?? []),
  );
  const keepLabel = from === 'starpo' || labels.size > 1;
  const used = new Set<string>();
  return columns.flatMap((column) => {
    const starpo = names.get(column.name);
    const name = starpo === undefined ? `${from}/${column.name}` : keepLabel ? starpo : withoutLabel(starpo);
    if (column.text !== null && starpo !== undefined) throw notNumeric(column.name, column.text);
    const reason =
      column.text !== null
        ? 'it is not numeric'
        : used.has(name)
          ? 'another column has the same meaning'
          : name.length > maxNameLength
            ? 'its name is too long'
            : null;
    if (reason !== null) {
      remarks.push(`Column "${shortened(column.name)}" was skipped: ${reason}.`);
      return [];
    }
    used.add(name);
    const assumption = starpo === undefined ? null : assumptionOf(from, column.name);
    if (assumption !== null) remarks.push(`"${column.name}" is read as ${name}, which assumes that ${assumption}.`);
    return [{ column, name, isMapped: starpo !== undefined }];
  });
}

const notNumeric = (column: string, { row, text }: { row: number; text: string }) =>
  new Failure(
    'import_not_numeric',
    `Column "${shortened(column)}" has "${shortened(text)}" in row ${row + 1}, which is not a number.`,
    'Correct or clear the cell. Use a decimal point.',
  );
