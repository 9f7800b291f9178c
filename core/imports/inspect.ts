import { Failure } from '../contract/failure.ts';
import type { Importable, ImportSource } from '../contract/imports.ts';
import { readFiles, type Source } from './input-files.ts';
import { recognizeSource } from './metric-names.ts';
import { type ImportedMetrics, metricColumns, readMetrics } from './read-metrics.ts';
import { type FoundRun, findRuns } from './recognize.ts';
import type { Table } from './table.ts';

const maxListed = 300;

/** Returns the runs in files. Reads them like an import, so that problems and remarks are reported beforehand. */
export async function inspectFiles(sources: readonly Source[], from?: ImportSource): Promise<Importable[]> {
  const { files, bundles, failed } = await readFiles(sources);
  const asBundle = (name: string) => ({
    ...nothing,
    ...{ key: name, file: name, kind: 'bundle' as const, name, from: null },
  });
  return [
    ...bundles.map(({ name }) => asBundle(name)),
    ...failed.map(({ name, failure }) => ({ ...asBundle(name), kind: 'csv' as const, problem: failure.toApiError() })),
    ...findRuns(files).map((run) => inspectRun(run, from)),
  ];
}

const nothing = { steps: 0, mapped: [], mappedCount: 0, unmapped: [], unmappedCount: 0, remarks: [], problem: null };

function inspectRun({ key, file, kind, name, table }: FoundRun, chosen: ImportSource | undefined): Importable {
  const run = { ...nothing, ...{ key, file, kind, name, from: chosen ?? null } };
  if (table instanceof Failure) return { ...run, problem: table.toApiError() };
  const from = chosen ?? sourceOf(table);
  try {
    const { steps, metrics, mapped, remarks } = readMetrics(table, from);
    const [recognized, others] = [
      metrics.filter(({ column }) => mapped.has(column)),
      metrics.filter(({ column }) => !mapped.has(column)),
    ];
    return {
      ...run,
      from,
      steps: steps.length,
      mapped: recognized.slice(0, maxListed).map((metric) => ({ name: metric.name, column: metric.column })),
      mappedCount: recognized.length,
      unmapped: others.slice(0, maxListed).map(({ column }) => column),
      unmappedCount: others.length,
      remarks,
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...run, from, problem: error.toApiError() };
  }
}

/** Finds a run by its key and converts it to metrics. Throws the run's problem, or `import_run_unknown`. */
export async function readRun(
  sources: readonly Source[],
  key: string,
  chosen: ImportSource | undefined,
  progress: (share: number) => void,
): Promise<{ found: FoundRun; from: ImportSource; metrics: ImportedMetrics }> {
  const { files } = await readFiles(sources);
  const found = findRuns(files).find((run) => run.key === key);
  if (!found)
    throw new Failure('import_run_unknown', `The import contains no run "${key}".`, 'Choose the files again.');
  if (found.table instanceof Failure) throw found.table;
  const from = chosen ?? sourceOf(found.table);
  return { found, from, metrics: readMetrics(found.table, from, progress) };
}

const sourceOf = ({ columns }: Table) => recognizeSource(metricColumns(columns).map(({ name }) => name));
