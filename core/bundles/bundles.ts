import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import product from '../../package.json' with { type: 'json' };
import { ensureFolder } from '../base/folders.ts';
import type { Tasks } from '../base/tasks.ts';
import type { BundleChoice, MadeExport } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import type { Exports } from '../exports/exports.ts';
import { freeBytes } from '../run-directory/measure.ts';
import { freeRunId, runFolder, runsFolder } from '../run-directory/names.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Runs } from '../runs/runs.ts';
import { BundleThread } from './bundle-thread.ts';
import { announce, discard, exchangeFolder, uploadedFile } from './exchange.ts';
import { bundleFormat, bundleVersion, diskSpaceLow, type Manifest } from './format.ts';

/** Placeholder name of a run being imported. */
const halfImported = '.importing-';

interface BundlesParts {
  home: string;
  runs: Runs;
  supervisor: Supervisor;
  tasks: Tasks;
  exports: Exports;
}

/** Exports and imports runs as single files. Uploads go to files named by the server, never to client paths. */
export class Bundles {
  private readonly parts: BundlesParts;
  /** Names of active uploads. */
  private readonly uploads = new Set<string>();
  private cleanup: Promise<void> | null = null;

  constructor(parts: BundlesParts) {
    this.parts = parts;
  }

  /** Packs a run. Throws `run_unknown`, `task_canceled` or `disk_full`. */
  async export(runId: string, choice: BundleChoice): Promise<MadeExport> {
    const { runs, tasks, exports } = this.parts;
    const { name } = runs.get(runId);
    const folder = runs.folder(runId);
    const manifest = this.manifest(runId, choice);
    return tasks.run({ kind: 'export_bundle', runId, title: `Packing ${name}`, cancelable: true }, (control) =>
      exports.add(`${runId}.starpo.zip`, async (target) => {
        await new BundleThread().callOnce('pack', { folder, target, manifest }, control);
      }),
    );
  }

  /** Prepares an upload (over HTTP if its size is given) and returns its name and path. Throws `disk_space_low`. */
  async begin(size?: number): Promise<{ file: string; path: string }> {
    const { home } = this.parts;
    this.cleanup ??= this.deleteLeftovers();
    await this.cleanup;
    ensureFolder(exchangeFolder(home));
    const free = await freeBytes(exchangeFolder(home));
    if (size !== undefined && size > free) throw diskSpaceLow('bundle', size, free);
    const file = randomBytes(16).toString('hex');
    this.uploads.add(file);
    if (size !== undefined) await announce(home, file, size);
    return { file, path: uploadedFile(home, file) };
  }

  /** Imports an uploaded bundle and returns the run's id. Throws as {@link importFrom} does, `file_unknown` or `file_incomplete`. */
  async import(file: string): Promise<string> {
    if (!this.uploads.has(file))
      throw new Failure('file_unknown', 'The uploaded file no longer exists.', 'Upload it again.');
    const path = uploadedFile(this.parts.home, file);
    if (!existsSync(path)) throw new Failure('file_incomplete', 'Upload incomplete.', 'Try again.');
    return this.importFrom(path).finally(() => this.drop(file));
  }

  /** Imports a bundle. Throws `bundle_invalid`, `bundle_version_unsupported`, `disk_space_low` or `task_canceled`, and deletes partial files. */
  async importFrom(path: string): Promise<string> {
    const { home, supervisor, tasks } = this.parts;
    const target = join(runsFolder(home), halfImported + randomBytes(8).toString('hex'));
    const task = { kind: 'import_bundle', runId: null, title: 'Importing a run', cancelable: true };
    try {
      const { run } = await tasks.run(task, (control) =>
        new BundleThread().callOnce('unpack', { file: path, target }, control),
      );
      const runId = freeRunId(home, run);
      await rename(target, runFolder(home, runId));
      await supervisor.add(runId);
      return runId;
    } finally {
      await rm(target, { recursive: true, force: true });
    }
  }

  async drop(file: string): Promise<void> {
    if (this.uploads.delete(file)) await discard(this.parts.home, file);
  }

  async close(): Promise<void> {
    await Promise.all([...this.uploads].map((file) => this.drop(file)));
  }

  private manifest(runId: string, choice: BundleChoice): Manifest {
    const { name } = this.parts.runs.get(runId);
    return {
      ...{ format: bundleFormat, version: bundleVersion, run: runId, name, time: Date.now() },
      studio: product.version,
      contains: choice,
    };
  }

  /** Deletes leftovers of killed processes. */
  private async deleteLeftovers(): Promise<void> {
    const { home } = this.parts;
    await rm(exchangeFolder(home), { recursive: true, force: true });
    const half = (await readdir(runsFolder(home))).filter((name) => name.startsWith(halfImported));
    for (const name of half) await rm(join(runsFolder(home), name), { recursive: true, force: true });
  }
}
