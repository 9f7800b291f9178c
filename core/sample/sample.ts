import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tasks } from '../base/tasks.ts';
import { inBundleThread } from '../bundles/bundle-thread.ts';
import { type Sample as Shown, sampleRunId } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { trainerBuild } from '../history/queries.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Runs } from '../runs/runs.ts';

/** The bundle that ships with the app, in its resources. */
export const sampleBundle = 'sample.starpo.zip';

/** What is asked here of the core that reads it. */
interface Reader {
  runs: Pick<Runs, 'get'>;
  database: HistoryDatabase;
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
 * The sample run. It lies in a data folder of its own inside the person's, `sample/DIGEST`, unpacked from the bundle when it is first asked for, and is read by a core of its
 * own: so it is in no list, no search and no estimate, and nothing that works on runs has to know of it.
 */
export class Sample<Core extends Reader> {
  private readonly parts: SampleParts<Core>;
  private opening: Promise<Core> | null = null;

  constructor(parts: SampleParts<Core>) {
    this.parts = parts;
  }

  /** Null where none ships. What keeps it from being opened is logged: nobody needs it. */
  async get(): Promise<Shown | null> {
    if (!existsSync(this.bundle)) return null;
    try {
      const { runs, database } = await this.core();
      return { summary: runs.get(sampleRunId), build: trainerBuild(database, sampleRunId) };
    } catch (error) {
      this.parts.log(`The sample run: ${asFailure(error).message}`);
      return null;
    }
  }

  /** The core that reads it. Throws `run_unknown` where none ships, or why it can't be unpacked. */
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
      throw new Failure('run_unknown', 'This StarPO Studio has no sample run.', 'Start a run of your own.');
    const digest = createHash('sha256')
      .update(await readFile(this.bundle))
      .digest('hex');
    const all = join(this.parts.home, 'sample');
    const home = join(all, digest.slice(0, 16));
    if (!existsSync(runFolder(home, sampleRunId))) {
      // An earlier version's, or what a process that was killed has left.
      await rm(all, { recursive: true, force: true });
      await this.unpack(home);
    }
    return this.parts.open(home);
  }

  private async unpack(home: string): Promise<void> {
    const target = runFolder(home, sampleRunId);
    const half = join(home, randomBytes(8).toString('hex'));
    await mkdir(join(target, '..'), { recursive: true });
    const wanted = { kind: 'sample', runId: null, title: 'Unpacking the sample run', cancellable: false };
    await this.parts.tasks.run(wanted, (control) =>
      inBundleThread({ kind: 'unpack', file: this.bundle, target: half }, control),
    );
    await rename(half, target);
  }
}
