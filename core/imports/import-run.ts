import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asDiskFull } from '../contract/failure.ts';
import { importedTask } from '../run-directory/imported.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import { partialFolder } from '../runs/partial-folders.ts';
import type { ImportSource } from './metric-names.ts';
import { type ImportedMetrics, readMetrics } from './read-metrics.ts';
import { readTable } from './read-table.ts';

export interface ImportOptions {
  from: ImportSource;
  /** Else the file's. */
  name?: string | undefined;
  /** Which one, where the file has the columns of several. */
  run?: string | undefined;
  /** Else a new one, as {@link importedRunId} gives it. */
  runId?: string | undefined;
  /** Temporary folder from {@link partialFolder}; the caller names it, because it may have to delete it. */
  partial?: string | undefined;
}

/** Called with the progress in percent. */
export type ImportProgress = (done: number, total: number) => void;

export interface Imported {
  runId: string;
  steps: number;
  /** The file's name of each metric, by the name it got. */
  names: Record<string, string>;
  remarks: string[];
}

/**
 * Makes a finished run of a table of metrics, as docs/formats/imported-run.md describes it: whole, or not at all. For the person's own process alone: a path is
 * nothing that core takes from a client. Throws what {@link readTable} and {@link readMetrics} do, or `disk_full`.
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
  // What the parts of the work take of its time, about.
  const [reading, understanding] = [20, 60];
  progress(0, 100);
  const table = readTable(path);
  progress(reading, 100);
  const metrics = readMetrics(table, from, run, (share) =>
    progress(reading + Math.floor(understanding * share), 100),
  );
  progress(reading + understanding, 100);
  const called = calledAs(path, name);
  try {
    mkdirSync(partial, { recursive: true });
    const config = runConfig(called, basename(path), from, metrics);
    writeFileSync(join(partial, runFiles.config), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
    writeFileSync(join(partial, runFiles.journal), journalOf(basename(path), from, metrics), { flush: true });
    renameSync(partial, runFolder(home, runId));
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw asDiskFull(error) ?? error;
  }
  return { runId, steps: metrics.steps.length, names: metrics.names, remarks: metrics.remarks };
}

const calledAs = (path: string, name?: string) =>
  (name ?? basename(path).replace(/\.[^.]+$/, '')).replace(/\p{Cc}/gu, ' ').slice(0, 80) || 'run';

/** A new id for a run that is made of a file. */
export function importedRunId(path: string, name?: string): string {
  const plain = calledAs(path, name)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 50);
  return `${plain || 'run'}-${randomBytes(4).toString('hex')}`;
}

const labelsOf = ({ names }: ImportedMetrics) => [
  ...new Set(
    Object.keys(names).flatMap((name) => /^(?:rollout|evaluation)\/([^/]+)\/[^/]+$/.exec(name)?.[1] ?? []),
  ),
];

/** What a reader needs of run.json, and what was made of the file. */
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

/** Without a `started`, since no trainer of ours has. */
function journalOf(file: string, from: ImportSource, { steps, names, remarks }: ImportedMetrics): string {
  const time = Date.now();
  const lines: string[] = [];
  const add = (type: string, fields: object) =>
    lines.push(JSON.stringify({ v: 1, seq: lines.length, time, type, ...fields }));
  const known = Object.keys(names).filter((name) => !name.startsWith(`${from}/`)).length;
  const message = `Imported from ${file} (${from}): ${steps.length} steps, ${Object.keys(names).length} metrics, of which ${known} are known here.`;
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
    const broken = notFinite.length > 0 ? { not_finite: notFinite } : {};
    if (Object.keys(training).length > 0 || notFinite.length > 0)
      add('iteration', { iteration: step, metrics: training, ...broken });
    for (const [label, values] of evaluations) add('evaluation', { iteration: step, label, metrics: values });
  }
  add('stopped', { reason: 'completed', iteration: steps.at(-1)!.step });
  return lines.map((line) => `${line}\n`).join('');
}
