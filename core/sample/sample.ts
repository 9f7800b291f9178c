import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureFolder } from '../base/folders.ts';
import type { Tasks } from '../base/tasks.ts';
import { BundleThread } from '../bundles/bundle-thread.ts';
import { type Sample as SampleInfo, sampleRunId } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Runs } from '../runs/runs.ts';

/** Path of the bundled sample run in the app's resources. */
const sampleBundle = 'sample.starpo.zip';

/** The parts of the server that this class uses. */
interface Reader {
  runs: Pick<Runs, 'get'>;
  dispose(): Promise<void>;
}

interface SampleParts<Core extends Reader> {
  home: string;
  resources: string;
  tasks: Tasks;
  /** Opens the sample's own data folder. */
  open: (home: string) => Promise<Core>;
  log: (message: string) => void;
}

/**
 * The sample run. It is unpacked on first use into its own data folder, `sample/DIGEST`, and read by a separate instance of the server.
 * Therefore lists, searches and estimates exclude it.
 */
export class Sample<Core extends Reader> {
  private readonly parts: SampleParts<Core>;
  private opening: Promise<Core> | null = null;

  constructor(parts: SampleParts<Core>) {
    this.parts = parts;
  }

  /** Returns null if no sample is bundled or it can't be opened; errors are logged. */
  async get(): Promise<SampleInfo | null> {
    if (!existsSync(this.bundle)) return null;
    try {
      const { runs } = await this.core();
      return { summary: runs.get(sampleRunId) };
    } catch (error) {
      this.parts.log(`Can't open the sample run: ${asFailure(error).message}`);
      return null;
    }
  }

  /** Returns the instance that reads the sample. Throws `run_unknown` if none is bundled, or why it can't be unpacked. */
  core(): Promise<Core> {
    this.opening ??= this.open().catch((error) => {
      this.opening = null;
      throw error;
    });
    return this.opening;
  }

  async close(): Promise<void> {
    const core = await this.opening?.catch(() => null);
    await core?.dispose();
  }

  private get bundle(): string {
    return join(this.parts.resources, sampleBundle);
  }

  private async open(): Promise<Core> {
    if (!existsSync(this.bundle))
      throw new Failure('run_unknown', 'This installation has no sample run.', 'Start your own run.');
    const digest = createHash('sha256')
      .update(await readFile(this.bundle))
      .digest('hex');
    const folder = join(this.parts.home, 'sample');
    const home = join(folder, digest.slice(0, 16));
    if (!existsSync(runFolder(home, sampleRunId))) {
      // Left by an earlier version or a killed process.
      await rm(folder, { recursive: true, force: true });
      await this.unpack(home);
    }
    return this.parts.open(home);
  }

  private async unpack(home: string): Promise<void> {
    const target = runFolder(home, sampleRunId);
    const partial = join(home, randomBytes(8).toString('hex'));
    for (const folder of [dirname(home), home, dirname(target)]) ensureFolder(folder);
    const newTask = { kind: 'sample', runId: null, title: 'Unpacking the sample run', cancelable: false };
    await this.parts.tasks.run(newTask, (control) =>
      new BundleThread().callOnce('unpack', { file: this.bundle, target: partial }, control),
    );
    await rename(partial, target);
  }
}
