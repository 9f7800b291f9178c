import { createWriteStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { ExportFormat, RunSummary } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { exportFileName } from '../contract/file-names.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { newestCheckpoint } from '../run-directory/checkpoints.ts';
import { listEvaluationResults } from '../run-directory/evaluations.ts';
import { readPanelFiles } from '../run-directory/panels.ts';
import { writeHuggingFace } from './hugging-face.ts';
import { methodsText } from './methods.ts';
import { metricsCsv, metricsJsonLines } from './metrics-files.ts';
import { modelCard } from './model-card.ts';
import { originOf } from './origin.ts';
import { writeParquet } from './parquet-files.ts';
import { type RunRecord, readRecord } from './record.ts';
import { evaluatedLabels, latexTable, markdownTable, runTable } from './tables.ts';
import { EventFile } from './tensorboard.ts';
import { traceLines } from './traces.ts';

/** Input of the export thread. */
export interface ExportJob {
  home: string;
  /** Folder of the starter policy. */
  starter: string;
  folder: string;
  summary: Pick<RunSummary, 'id' | 'name' | 'task' | 'trap'>;
  /** run.json, not validated. */
  config: unknown;
  format: ExportFormat;
  checkpoint: number | undefined;
  /** Output folder, which must be empty. */
  target: string;
  packed: boolean;
}

export type ExportProgress = (done: number, total: number) => void;

/** Writes a run's export into `target` and returns the file names. Throws as `exports.make` does. */
export async function writeExport(job: ExportJob, progress: ExportProgress): Promise<string[]> {
  const record = await readRecord(job.folder);
  const files = await writers[job.format](job, record, progress);
  return job.packed && files.length > 1 ? [await pack(job, files)] : files;
}

type Writer = (job: ExportJob, record: RunRecord, progress: ExportProgress) => Promise<string[]>;

const writers: Record<ExportFormat, Writer> = {
  csv: async (job, record) => [
    await writeText(job, 'metrics', 'csv', metricsCsv(nonEmpty(job, record.points, 'metrics'), record.panels)),
  ],
  jsonl: async (job, record) => [
    await writeText(job, 'metrics', 'jsonl', metricsJsonLines(nonEmpty(job, record.points, 'metrics'), record.panels)),
  ],
  parquet: (job, record, progress) =>
    writeParquet(job.folder, nonEmpty(job, record.rollouts, 'episodes'), job.target, record.panels, progress),
  traces: async (job, record, progress) => {
    const rollouts = nonEmpty(job, record.rollouts, 'episodes');
    const { name } = originOf(configOf(job), job);
    return [await writeText(job, 'traces', 'jsonl', traceLines(job.folder, rollouts, name, progress))];
  },
  tensorboard: async (job, record) => {
    const points = nonEmpty(job, record.points, 'metrics');
    const file = new EventFile(job.target, points[0]!.time);
    for (const point of points) file.add(point);
    file.close();
    return [file.name];
  },
  'hugging-face': async (job, record) => {
    const config = configOf(job);
    const checkpoint = job.checkpoint ?? newestCheckpoint(job.folder);
    const results = await listEvaluationResults(job.folder);
    const evaluations = results.filter((result) => result.checkpoint === checkpoint);
    const facts = { summary: job.summary, config, checkpoint, record, evaluations };
    const card = modelCard({ ...facts, origin: originOf(config, job) });
    return writeHuggingFace(job.folder, { checkpoint, config, card }, job.target);
  },
  markdown: async (job, record) => [await writeText(job, 'results', 'md', [markdownTable(tableOf(job, record))])],
  latex: async (job, record) => [await writeText(job, 'results', 'tex', [latexTable(tableOf(job, record))])],
  panels: async (job, record) => {
    const files = await readPanelFiles(job.folder, record.panels);
    return Promise.all(
      nonEmpty(job, files, 'panels').map(({ name, text }) => writeText(job, `${name}-panel`, 'json', [text])),
    );
  },
  methods: async (job, record) => {
    const config = configOf(job);
    return [await writeText(job, 'methods', 'txt', [`${methodsText(config, originOf(config, job), record)}\n`])];
  },
};

/** Writes a text file and returns its name. */
async function writeText(
  { target, summary }: ExportJob,
  what: string,
  extension: string,
  pieces: Iterable<string> | AsyncIterable<string>,
): Promise<string> {
  const name = exportFileName(summary.name, what, extension);
  await pipeline(Readable.from(pieces), createWriteStream(join(target, name)));
  return name;
}

function tableOf(job: ExportJob, { points, panels }: RunRecord) {
  const evaluated = points.filter(({ values }) => evaluatedLabels(values).length > 0);
  return runTable(job.summary.name, nonEmpty(job, evaluated, 'evaluations'), panels, configOf(job));
}

const missingData = {
  episodes: 'The run has no rollout yet, its episode files were deleted, or it was imported without episodes.',
  evaluations: 'The run has no evaluation yet, none of its environments is evaluated, or it was imported without them.',
  panels: 'The run has no evaluation with a recorded panel.',
  metrics: 'The run has not completed an iteration or an evaluation yet.',
};

function nonEmpty<T>({ summary }: ExportJob, items: readonly T[], kind: keyof typeof missingData): readonly T[] {
  if (items.length > 0) return items;
  throw new Failure('export_unsuitable', `Run ${summary.id} has no ${kind} to export.`, missingData[kind]);
}

/** Throws `export_unsuitable` for an imported run, `config_invalid` or `config_version_unsupported`. */
function configOf({ config, summary }: ExportJob): RunConfig {
  if (summary.task !== 'imported') return validateConfig(config);
  throw new Failure(
    'export_unsuitable',
    `Run ${summary.id} was imported and has no configuration of StarPO Studio.`,
    'Export its metrics as CSV, JSON lines or TensorBoard events.',
  );
}

/** Packs files into one zip without compression, since weights and Parquet do not compress. Returns its name. */
async function pack({ target, summary, format }: ExportJob, files: readonly string[]): Promise<string> {
  const name = exportFileName(summary.name, format, 'zip');
  const zip = new ZipFile();
  for (const file of files) zip.addFile(join(target, file), file, { compress: false });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(join(target, name)));
  for (const file of files) await rm(join(target, file));
  return name;
}

/** Writes a text file and returns its name. */
export async function writeStudyText(target: string, name: string, text: string): Promise<string[]> {
  await writeFile(join(target, name), text);
  return [name];
}
