import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { ensureFolder } from '../base/folders.ts';
import type { TaskControl, Tasks } from '../base/tasks.ts';
import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { Bundles } from '../bundles/bundles.ts';
import { Failure } from '../contract/failure.ts';
import type { Importable, ImportSource, Upload } from '../contract/imports.ts';
import { diskSpaceLow, freeBytes } from '../run-directory/measure.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Annotations } from '../runs/annotations.ts';
import { partialFolder, removePartialFolders } from '../runs/partial-folders.ts';
import { announce, discard, exchangeFolder, uploadedFile } from './exchange.ts';
import { importedRunId } from './import-run.ts';
import type { ImportFunctions } from './import-worker.ts';
import { isZip, type Source } from './input-files.ts';

interface ImportsParts {
  annotations: Annotations;
  home: string;
  supervisor: Supervisor;
  tasks: Tasks;
  bundles: Bundles;
}

interface ImportRequest {
  uploads: readonly Upload[];
  key: string;
  from?: ImportSource | undefined;
  name?: string | undefined;
}

/** Imports runs from uploaded files. Uploads go to files named by the server, never to client paths. */
export class Imports {
  private readonly parts: ImportsParts;
  /** Names of active uploads. */
  private readonly uploads = new Set<string>();
  private cleanup: Promise<void> | null = null;

  constructor(parts: ImportsParts) {
    this.parts = parts;
  }

  /** Prepares an upload (over HTTP or IPC if its size is given) and returns its name and path. Throws `disk_space_low`. */
  async begin(size?: number): Promise<{ file: string; path: string }> {
    const { home } = this.parts;
    this.cleanup ??= this.deleteLeftovers();
    await this.cleanup;
    ensureFolder(exchangeFolder(home));
    const free = await freeBytes(exchangeFolder(home));
    if (size !== undefined && size > free) throw diskSpaceLow('file', size, free);
    const file = randomBytes(16).toString('hex');
    this.uploads.add(file);
    if (size !== undefined) await announce(home, file, size);
    return { file, path: uploadedFile(home, file) };
  }

  async drop(files: readonly string[]): Promise<void> {
    for (const file of files) if (this.uploads.delete(file)) await discard(this.parts.home, file);
  }

  /** Returns the runs in uploads. Files that can't be read have a `problem`. Throws `file_unknown` or `file_incomplete`. */
  async inspect(uploads: readonly Upload[], from?: ImportSource): Promise<Importable[]> {
    const sources = this.sources(uploads);
    const task = { kind: 'inspect_import', runId: null, title: 'Reading files', cancelable: true };
    return this.parts.tasks.run(task, (control) => thread().callOnce('inspect', { sources, from }, control));
  }

  /** Imports a run of the uploads and returns its id. Deletes partial files on failure. */
  async run({ uploads, key, from, name }: ImportRequest): Promise<string> {
    const { annotations, supervisor, tasks, bundles } = this.parts;
    const sources = this.sources(uploads);
    const bundle = sources.find((source) => source.name === key && isZip(source));
    const task = { kind: 'import', runId: null, title: 'Importing a run', cancelable: true };
    return tasks.run(task, async (control) => {
      if (bundle) {
        const runId = await bundles.import(bundle.path, control);
        if (name !== undefined) await annotations.annotate({ runId, name });
        return runId;
      }
      const runId = importedRunId(name ?? stemOf(key));
      await this.create({ sources, key, from, name, runId }, control);
      await supervisor.add(runId);
      return runId;
    });

    function stemOf(path: string): string {
      return path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '');
    }
  }

  private async create(
    job: { sources: Source[]; key: string; from: ImportSource | undefined; name: string | undefined; runId: string },
    control: TaskControl,
  ): Promise<void> {
    const { home } = this.parts;
    const partial = partialFolder(home, job.runId, 'importing');
    try {
      await thread().callOnce('import', { home, partial, ...job }, control);
    } catch (error) {
      for (const folder of [partial, runFolder(home, job.runId)]) await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private sources(uploads: readonly Upload[]): Source[] {
    const seen = new Map<string, number>();
    return uploads.map(({ file, name }) => {
      const times = (seen.get(name) ?? 0) + 1;
      seen.set(name, times);
      if (!this.uploads.has(file))
        throw new Failure('file_unknown', `The uploaded file ${name} no longer exists.`, 'Upload it again.');
      const path = uploadedFile(this.parts.home, file);
      if (!existsSync(path)) throw new Failure('file_incomplete', `The upload of ${name} is incomplete.`, 'Try again.');
      // Runs are identified by the names of their files.
      return { name: times === 1 ? name : `${times}/${name}`, path };
    });
  }

  async close(): Promise<void> {
    await this.drop([...this.uploads]);
  }

  /** Deletes leftovers of killed processes. */
  private async deleteLeftovers(): Promise<void> {
    const { home, bundles } = this.parts;
    await rm(exchangeFolder(home), { recursive: true, force: true });
    await bundles.deleteLeftovers();
    await removePartialFolders(home);
  }
}

const thread = () =>
  new WorkerThread<ImportFunctions>({
    script: workerScript(import.meta.filename, 'import-worker'),
    ...{ code: 'import_interrupted', purpose: 'imports a run' },
  });
