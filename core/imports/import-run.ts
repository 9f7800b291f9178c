import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFolder } from '../base/folders.ts';
import { asDiskFull } from '../contract/failure.ts';
import type { ImportSource } from '../contract/imports.ts';
import { count } from '../contract/numbers.ts';
import { importedTask } from '../run-directory/imported.ts';
import { runFiles, runFolder, slug } from '../run-directory/names.ts';
import { isEvaluation } from './broken-metrics.ts';
import { labelIn } from './metric-names.ts';
import type { ImportedMetrics } from './read-metrics.ts';

export interface ImportOptions {
  /** Name of the run. */
  name: string;
  /** Name of the file that it comes from. */
  file: string;
  from: ImportSource;
  runId: string;
  /** Temporary folder, which becomes the run's folder. */
  partial: string;
}

/**
 * Creates a completed run from metrics (docs/formats/imported-run.md), completely or not at all. `progress` receives the fraction done.
 * Throws `disk_full`.
 */
export function importRun(
  home: string,
  metrics: ImportedMetrics,
  { name, file, from, runId, partial }: ImportOptions,
  progress: (share: number) => void = () => {},
): void {
  const config = runConfig(cleanName(name), file, from, metrics);
  try {
    ensureFolder(partial);
    writeFileSync(join(partial, runFiles.config), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
    writeLines(join(partial, runFiles.journal), journalOf(file, from, metrics, progress));
    renameSync(partial, runFolder(home, runId));
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw asDiskFull(error) ?? error;
  }
}

const cleanName = (name: string) => name.replace(/\p{Cc}/gu, ' ').slice(0, 80) || 'run';

/** Returns a new id for an imported run. */
export function importedRunId(name: string): string {
  return `${slug(cleanName(name), 50) || 'run'}-${randomBytes(4).toString('hex')}`;
}

/** Returns the keys of run.json that readers need, and the source of the run. */
function runConfig(name: string, file: string, from: ImportSource, { steps, metrics }: ImportedMetrics) {
  const labels = [...new Set(metrics.flatMap((metric) => labelIn(metric.name) ?? []))];
  const environments = (labels.length > 0 ? labels : [importedTask]).map((label) => ({
    label,
    type: importedTask,
  }));
  return {
    version: 1,
    preset: importedTask,
    task: importedTask,
    device: 'none',
    iterations: Math.max(1, steps.at(-1)!),
    environments,
    imported: { name, file, from, metrics: Object.fromEntries(metrics.map((metric) => [metric.name, metric.column])) },
  };
}

/** Characters to collect before writing them. A journal may be longer than the longest possible string. */
const chunkLength = 1 << 22;

function writeLines(path: string, lines: Iterable<string>): void {
  const file = openSync(path, 'w');
  try {
    let chunk = '';
    for (const line of lines) {
      chunk += `${line}\n`;
      if (chunk.length < chunkLength) continue;
      writeAll(file, chunk);
      chunk = '';
    }
    writeAll(file, chunk);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A nearly full disk may accept only a part. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** Yields the lines of the journal. It has no `started` event, because no StarPO trainer started. */
function* journalOf(
  file: string,
  from: ImportSource,
  { steps, times, metrics, mapped, remarks }: ImportedMetrics,
  progress: (share: number) => void,
): Generator<string> {
  const now = Date.now();
  let time = times.find((each) => each !== null) ?? now;
  let seq = 0;
  const line = (type: string, fields: string) =>
    `{"v":1,"seq":${seq++},"time":${time},"type":"${type}"${fields === '' ? '' : `,${fields}`}}`;
  const log = (level: string, message: string) =>
    line('log', `"level":"${level}","message":${JSON.stringify(message)}`);
  yield log(
    'info',
    `Imported from ${file} (${from}): ${count(steps.length, 'step')}, ${count(metrics.length, 'metric')} (${mapped.size} recognized).`,
  );
  for (const remark of remarks) yield log('warning', remark);
  const parts = metrics.map(({ name, at, values, brokenFrom }) => ({
    ...{ name, at, values, brokenFrom, next: 0, key: `${JSON.stringify(name)}:` },
    label: isEvaluation(name) ? labelIn(name) : null,
  }));
  for (const [index, step] of steps.entries()) {
    if (index % 1000 === 0) progress(index / steps.length);
    time = times[index] ?? time;
    const training: string[] = [];
    const broken: string[] = [];
    const evaluations = new Map<string, string[]>();
    for (const part of parts) {
      if (part.at[part.next] === index) {
        const field = part.key + part.values[part.next++];
        if (part.label === null) training.push(field);
        else evaluations.set(part.label, [...(evaluations.get(part.label) ?? []), field]);
      } else if (part.brokenFrom !== null && index >= part.brokenFrom) broken.push(part.name);
    }
    const invalid = broken.length > 0 ? `,"not_finite":${JSON.stringify(broken)}` : '';
    if (training.length > 0 || broken.length > 0)
      yield line('iteration', `"iteration":${step},"metrics":{${training.join(',')}}${invalid}`);
    for (const [label, fields] of evaluations)
      yield line('evaluation', `"iteration":${step},"label":${JSON.stringify(label)},"metrics":{${fields.join(',')}}`);
  }
  yield line('stopped', `"reason":"completed","iteration":${steps.at(-1)}`);
}
