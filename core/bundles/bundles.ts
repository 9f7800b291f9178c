import { randomBytes } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import product from '../../package.json' with { type: 'json' };
import type { TaskControl, Tasks } from '../base/tasks.ts';
import type { BundleChoice, MadeExport } from '../contract/contract.ts';
import { exportFileName } from '../contract/file-names.ts';
import type { Exports } from '../exports/exports.ts';
import { freeRunId, runFolder, runsFolder } from '../run-directory/names.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Runs } from '../runs/runs.ts';
import { BundleThread } from './bundle-thread.ts';
import { bundleFormat, bundleVersion, type Manifest } from './format.ts';

/** Prefix of the folder name of a run that is being imported. */
const partialPrefix = '.importing-';

interface BundlesParts {
  home: string;
  runs: Runs;
  supervisor: Supervisor;
  tasks: Tasks;
  exports: Exports;
}

/** Exports and imports runs as single files. */
export class Bundles {
  private readonly parts: BundlesParts;

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
      exports.add(exportFileName(name, '', 'starpo.zip'), async (target) => {
        await new BundleThread().callOnce('pack', { folder, target, manifest }, control);
      }),
    );
  }

  /**
   * Imports a bundle and returns the run's id. Throws `bundle_invalid`, `bundle_version_unsupported` or `disk_space_low`, and deletes partial files.
   */
  async import(path: string, control: TaskControl): Promise<string> {
    const { home, supervisor } = this.parts;
    const target = join(runsFolder(home), partialPrefix + randomBytes(8).toString('hex'));
    try {
      const { run } = await new BundleThread().callOnce('unpack', { file: path, target }, control);
      const runId = freeRunId(home, run);
      await rename(target, runFolder(home, runId));
      await supervisor.add(runId);
      return runId;
    } finally {
      await rm(target, { recursive: true, force: true });
    }
  }

  /** Deletes leftovers of killed processes. */
  async deleteLeftovers(): Promise<void> {
    const { home } = this.parts;
    const partial = (await readdir(runsFolder(home))).filter((name) => name.startsWith(partialPrefix));
    for (const name of partial) await rm(join(runsFolder(home), name), { recursive: true, force: true });
  }

  private manifest(runId: string, choice: BundleChoice): Manifest {
    const { name } = this.parts.runs.get(runId);
    return {
      ...{ format: bundleFormat, version: bundleVersion, run: runId, name, time: Date.now() },
      studio: product.version,
      contains: choice,
    };
  }
}
