import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureFolder } from '../base/folders.ts';
import type { TaskControl, Tasks } from '../base/tasks.ts';
import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { ExportFormat, ExportSource, MadeExport, Study } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { exportFileName } from '../contract/file-names.ts';
import { isWritable } from '../history/write-access.ts';
import type { Runs } from '../runs/runs.ts';
import type { Studies } from '../studies/studies.ts';
import type { ExportFunctions } from './export-worker.ts';
import { latexTable, markdownTable, studyCsv, studyTable } from './tables.ts';
import { writeStudyText } from './write-export.ts';

/** Temporary folders for data folders that this process can't write to. */
const temporary = new Map<string, string>();

/** Returns the folder of finished exports, used only by this server. */
function exportsFolder(home: string): string {
  const own = temporary.get(home);
  if (own !== undefined) return own;
  if (isWritable(home)) return join(home, 'exports');
  const folder = mkdtempSync(join(tmpdir(), 'starpo-exports-'));
  temporary.set(home, folder);
  return folder;
}

export const exportFolder = (home: string, exportId: string) => join(exportsFolder(home), exportId);

interface ExportsParts {
  home: string;
  resources: string;
  runs: Runs;
  studies: Studies;
  tasks: Tasks;
  /** Lifetime of an export in ms. Default one hour. */
  lifetime?: number;
}

const hour = 3_600_000;

interface ExportRequest {
  of: ExportSource;
  format: ExportFormat;
  packed?: boolean | undefined;
}

const titles: Record<ExportFormat, string> = {
  csv: 'CSV',
  jsonl: 'JSON lines',
  parquet: 'Parquet',
  traces: 'traces',
  tensorboard: 'TensorBoard events',
  'hugging-face': 'a Hugging Face folder',
  markdown: 'Markdown',
  latex: 'LaTeX',
  methods: 'a methods paragraph',
  panels: 'evaluation panels',
};

/** Exports runs and sweeps to files, each in its own folder until deleted or expired. A thread writes exports of runs. */
export class Exports {
  private readonly parts: ExportsParts;
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(parts: ExportsParts) {
    this.parts = parts;
    // Deletes leftovers of a killed server.
    this.close();
  }

  /** Throws as `exports.make` does and cleans up on failure. */
  async make(request: ExportRequest): Promise<MadeExport> {
    const { title, runId, write } = this.writerOf(request);
    const task = { kind: 'export', runId, title: `Exporting ${title} as ${titles[request.format]}` };
    return this.parts.tasks.run({ ...task, cancelable: true }, (control) =>
      this.addFiles((folder) => write(folder, control)),
    );
  }

  /** Adds one file written by a callback. Cleans up on failure. */
  add(name: string, write: (path: string) => Promise<void>): Promise<MadeExport> {
    return this.addFiles(async (folder) => {
      await write(join(folder, name));
      return [name];
    });
  }

  private async addFiles(write: (folder: string) => Promise<string[]>): Promise<MadeExport> {
    const exportId = randomBytes(16).toString('hex');
    const folder = exportFolder(this.parts.home, exportId);
    try {
      ensureFolder(exportsFolder(this.parts.home));
      ensureFolder(folder);
      const files = await write(folder);
      const made = { exportId, folder, files: files.map((name) => ({ name })) };
      this.expire(exportId);
      return made;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Returns the text of a single-file export. */
  async text(request: Omit<ExportRequest, 'packed'>): Promise<string> {
    const { exportId, folder, files } = await this.make(request);
    try {
      return await readFile(join(folder, files[0]!.name), 'utf8');
    } finally {
      await this.forget(exportId);
    }
  }

  async forget(exportId: string): Promise<void> {
    clearTimeout(this.timers.get(exportId));
    this.timers.delete(exportId);
    await rm(exportFolder(this.parts.home, exportId), { recursive: true, force: true });
  }

  close(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    const { home } = this.parts;
    if (isWritable(home)) rmSync(join(home, 'exports'), { recursive: true, force: true });
    const own = temporary.get(home);
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
    temporary.delete(home);
  }

  private expire(exportId: string): void {
    const timer = setTimeout(() => void this.forget(exportId).catch(() => {}), this.parts.lifetime ?? hour);
    timer.unref();
    this.timers.set(exportId, timer);
  }

  /** Checks the request immediately; errors while reading files fail the task. */
  private writerOf({ of, format, packed = false }: ExportRequest) {
    const { runs, studies, home, resources } = this.parts;
    if ('studyId' in of) {
      const { studyId } = of;
      const { extension, textOf } = studyFormat(format);
      const { name } = studies.summary(studyId);
      const fileName = exportFileName(name, 'results', extension);
      const write = async (target: string) => writeStudyText(target, fileName, textOf(await studies.get(studyId)));
      return { title: name, runId: null, write };
    }
    const { runId, checkpoint } = of;
    const { id, name, task, trap } = runs.get(runId);
    const write = async (target: string, control: TaskControl) => {
      const config = await runs.config(runId);
      const starter = join(resources, 'starter');
      const job = { home, starter, folder: runs.folder(runId), summary: { id, name, task, trap } };
      const thread = new WorkerThread<ExportFunctions>({
        script: workerScript(import.meta.filename, 'export-worker'),
        ...{ code: 'export_interrupted', purpose: 'writes the export' },
      });
      return thread.callOnce('write', { ...job, config, format, checkpoint, target, packed }, control);
    };
    return { title: name, runId, write };
  }
}

/** Returns the writer for a sweep's results. Throws `export_unsuitable` for formats that only runs support. */
function studyFormat(format: ExportFormat) {
  if (format === 'csv') return { extension: 'csv', textOf: studyCsv };
  if (format === 'markdown') return { extension: 'md', textOf: (study: Study) => markdownTable(studyTable(study)) };
  if (format === 'latex') return { extension: 'tex', textOf: (study: Study) => latexTable(studyTable(study)) };
  throw new Failure(
    'export_unsuitable',
    `A sweep can't be exported as ${titles[format]}.`,
    'Export it as CSV, Markdown or LaTeX, or export its runs separately.',
  );
}
