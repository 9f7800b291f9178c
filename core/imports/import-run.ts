import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ensureFolder } from '../base/folders.ts';
import { asDiskFull } from '../contract/failure.ts';
import { importedTask } from '../run-directory/imported.ts';
import { runFiles, runFolder, slug } from '../run-directory/names.ts';
import { partialFolder } from '../runs/partial-folders.ts';
import type { ImportSource } from './metric-names.ts';
import { type ImportedMetrics, readMetrics } from './read-metrics.ts';
import { readTable } from './read-table.ts';

export interface ImportOptions {
  from: ImportSource;
  /** Name of the run. Defaults to the name of the file. */
  name?: string | undefined;
  /** Which run to import if the file has several. */
  run?: string | undefined;
  /** Defaults to a new id from {@link importedRunId}. */
  runId?: string | undefined;
  /** Temporary folder from {@link partialFolder}. The caller chooses it if it has to delete it later. */
  partial?: string | undefined;
}

/** Receives the progress in percent. */
export type ImportProgress = (done: number, total: number) => void;

export interface Imported {
  runId: string;
  steps: number;
  /** Column names by metric name. */
  names: Record<string, string>;
  remarks: string[];
}

/**
 * Creates a completed run from a table of metrics (docs/formats/imported-run.md), completely or not at all. Only commands call it, because the
 * server accepts no paths from clients. Throws as {@link readTable} and {@link readMetrics} do, or `disk_full`.
 */
export function importRun(
  home: string,
  path: string,
  {
    from,
    name,
    run,
    runId = importedRunId(path, name),
    partial = partialFolder(home, runId, 'importing'),
  }: ImportOptions,
  progress: ImportProgress = () => {},
): Imported {
  // Approximate shares of the time, in percent.
  const [tableShare, metricsShare] = [20, 60];
  progress(0, 100);
  const table = readTable(path);
  progress(tableShare, 100);
  const metrics = readMetrics(table, from, run, (share) =>
    progress(tableShare + Math.floor(metricsShare * share), 100),
  );
  progress(tableShare + metricsShare, 100);
  const runName = runNameOf(path, name);
  try {
    ensureFolder(partial);
    const config = runConfig(runName, basename(path), from, metrics);
    writeFileSync(join(partial, runFiles.config), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
    writeFileSync(join(partial, runFiles.journal), journalOf(basename(path), from, metrics), { flush: true });
    renameSync(partial, runFolder(home, runId));
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw asDiskFull(error) ?? error;
  }
  return { runId, steps: metrics.steps.length, names: metrics.names, remarks: metrics.remarks };
}

const runNameOf = (path: string, name?: string) =>
  (name ?? basename(path).replace(/\.[^.]+$/, '')).replace(/\p{Cc}/gu, ' ').slice(0, 80) || 'run';

/** Returns a new id for an imported run. */
export function importedRunId(path: string, name?: string): string {
  return `${slug(runNameOf(path, name), 50) || 'run'}-${randomBytes(4).toString('hex')}`;
}

const labelsOf = ({ names }: ImportedMetrics) => [
  ...new Set(Object.keys(names).flatMap((name) => /^(?:rollout|evaluation)\/([^/]+)\/[^/]+$/.exec(name)?.[1] ?? [])),
];

/** Returns the keys of run.json that readers need, and the source of the run. */
function runConfig(name: string, file: string, from: ImportSource, metrics: ImportedMetrics) {
  const labels = labelsOf(metrics);
  const environments = (labels.length > 0 ? labels : [importedTask]).map((label) => ({
    label,
    type: importedTask,
  }));
  return {
    version: 1,
    preset: importedTask,
    task: importedTask,
    device: 'none',
    iterations: Math.max(1, metrics.steps.at(-1)!.step),
    environments,
    imported: { name, file, from, metrics: metrics.names },
  };
}

/** Returns the journal. It has no `started` event, because no StarPO trainer started. */
function journalOf(file: string, from: ImportSource, { steps, names, remarks }: ImportedMetrics): string {
  const time = Date.now();
  const lines: string[] = [];
  const add = (type: string, fields: object) =>
    lines.push(JSON.stringify({ v: 1, seq: lines.length, time, type, ...fields }));
  const recognized = Object.keys(names).filter((name) => !name.startsWith(`${from}/`)).length;
  const message = `Imported from ${file} (${from}): ${steps.length} steps, ${Object.keys(names).length} metrics (${recognized} recognized).`;
  add('log', { level: 'info', message });
  for (const remark of remarks) add('log', { level: 'warning', message: remark });
  for (const { step, metrics, notFinite } of steps) {
    const training: Record<string, number> = {};
    const evaluations = new Map<string, Record<string, number>>();
    for (const [name, value] of Object.entries(metrics)) {
      const label = /^evaluation\/([^/]+)\//.exec(name)?.[1];
      if (label === undefined) training[name] = value;
      else evaluations.set(label, { ...evaluations.get(label), [name]: value });
    }
    const invalid = notFinite.length > 0 ? { not_finite: notFinite } : {};
    if (Object.keys(training).length > 0 || notFinite.length > 0)
      add('iteration', { iteration: step, metrics: training, ...invalid });
    for (const [label, values] of evaluations) add('evaluation', { iteration: step, label, metrics: values });
  }
  add('stopped', { reason: 'completed', iteration: steps.at(-1)!.step });
  return lines.map((line) => `${line}\n`).join('');
}
