import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import product from '../../package.json' with { type: 'json' };
import { bytes } from '../contract/bytes.ts';
import { type BundleChoice, type Output, pieceBytes } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';
import type { Runs } from '../runs/runs.ts';
import type { Supervisor } from '../runs/supervisor.ts';
import type { Tasks } from '../tasks.ts';
import { inBundleThread } from './bundle-thread.ts';
import { bundleFormat, bundleVersion, type Manifest } from './format.ts';

/** Files that are on their way lie here until they are dropped, or the process ends. */
const exchangeFolder = (home: string) => join(home, 'exchange');

/** A run that is being taken in has a name that no run has. */
const halfImported = '.importing-';

interface BundlesParts {
  home: string;
  runs: Runs;
  supervisor: Supervisor;
  tasks: Tasks;
  log: (message: string) => void;
}

interface Held {
  path: string;
  /** Of one that is being brought: how many bytes it is to have. */
  expected: number | null;
}

/** Runs as one file each, out and in. Clients bring and take the file in pieces over the same channel as everything else, so that no path of theirs is ever touched. */
export class Bundles {
  private readonly parts: BundlesParts;
  private readonly held = new Map<string, Held>();
  private tidied: Promise<void> | null = null;

  constructor(parts: BundlesParts) {
    this.parts = parts;
  }

  /** Throws `run_unknown`, `task_cancelled` or `disk_full`. */
  async export(runId: string, holds: BundleChoice): Promise<Output<'bundles.export'>> {
    const { runs, tasks } = this.parts;
    const { name } = runs.get(runId);
    const { file, path } = await this.newFile();
    await tasks
      .run({ kind: 'export_bundle', runId, title: `Packing ${name}`, cancellable: true }, (control) =>
        inBundleThread(
          { kind: 'pack', folder: runs.folder(runId), target: path, manifest: this.manifest(runId, holds) },
          control,
        ),
      )
      .catch(async (error) => {
        await rm(path, { force: true });
        throw error;
      });
    this.held.set(file, { path, expected: null });
    return { file, name: `${runId}.starpo.zip`, bytes: (await stat(path)).size };
  }

  /** A piece in base64. Throws `file_unknown`. */
  async read(file: string, offset: number): Promise<string> {
    const handle = await open(this.find(file).path, 'r');
    try {
      const piece = Buffer.alloc(pieceBytes);
      const { bytesRead } = await handle.read(piece, 0, pieceBytes, offset);
      return piece.toString('base64', 0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  /** Throws `disk_space_low`. */
  async begin(expected: number): Promise<string> {
    const { file, path } = await this.newFile();
    const { bavail, bsize } = await statfs(exchangeFolder(this.parts.home));
    if (expected > bavail * bsize)
      throw new Failure(
        'disk_space_low',
        `The bundle has ${bytes(expected)}, and the disk has ${bytes(bavail * bsize)} left.`,
        'Free some space first.',
      );
    await (await open(path, 'wx')).close();
    this.held.set(file, { path, expected });
    return file;
  }

  /** Throws `file_unknown`, or `file_too_long` where more comes than was said. */
  async write(file: string, piece: string): Promise<void> {
    const { path, expected } = this.find(file);
    const content = Buffer.from(piece, 'base64');
    const handle = await open(path, 'a');
    try {
      const { size } = await handle.stat();
      if (size + content.length > (expected ?? 0))
        throw new Failure('file_too_long', 'More of the file came than was said.', 'Import it again.');
      await handle.appendFile(content);
    } finally {
      await handle.close();
    }
  }

  /** Takes in the run of a bundle that was brought whole; gives its id here. Throws as {@link importFrom} does, or `file_incomplete`. */
  async import(file: string): Promise<string> {
    const { path, expected } = this.find(file);
    if ((await stat(path)).size !== expected)
      throw new Failure('file_incomplete', 'Not all of the file has come.', 'Import it again.');
    return this.importFrom(path).finally(() => this.drop(file));
  }

  /** Throws `bundle_invalid`, `bundle_version_unsupported`, `disk_space_low` or `task_cancelled`; then nothing of it stays. */
  async importFrom(path: string): Promise<string> {
    const { home, supervisor, tasks } = this.parts;
    const target = join(runsFolder(home), halfImported + randomBytes(8).toString('hex'));
    const wanted = { kind: 'import_bundle', runId: null, title: 'Taking in a run', cancellable: true };
    try {
      const { run } = (await tasks.run(wanted, (control) =>
        inBundleThread({ kind: 'unpack', file: path, target }, control),
      )) as Manifest;
      const runId = freeId(home, run);
      await rename(target, runFolder(home, runId));
      await supervisor.add(runId);
      return runId;
    } finally {
      await rm(target, { recursive: true, force: true });
    }
  }

  async drop(file: string): Promise<void> {
    const known = this.held.get(file);
    this.held.delete(file);
    if (known) await rm(known.path, { force: true });
  }

  async close(): Promise<void> {
    await Promise.all([...this.held.keys()].map((file) => this.drop(file)));
  }

  private manifest(runId: string, holds: BundleChoice): Manifest {
    const { name } = this.parts.runs.get(runId);
    return {
      ...{ format: bundleFormat, version: bundleVersion, run: runId, name, time: Date.now() },
      studio: product.version,
      holds,
    };
  }

  private async newFile(): Promise<{ file: string; path: string }> {
    const folder = exchangeFolder(this.parts.home);
    this.tidied ??= this.tidy();
    await this.tidied;
    await mkdir(folder, { recursive: true });
    const file = randomBytes(16).toString('hex');
    return { file, path: join(folder, `${file}.zip`) };
  }

  /** What a process that was killed has left: nobody knows those files any more. */
  private async tidy(): Promise<void> {
    const { home } = this.parts;
    await rm(exchangeFolder(home), { recursive: true, force: true });
    const half = (await readdir(runsFolder(home))).filter((name) => name.startsWith(halfImported));
    for (const name of half) await rm(join(runsFolder(home), name), { recursive: true, force: true });
  }

  private find(file: string): Held {
    const known = this.held.get(file);
    if (known) return known;
    throw new Failure('file_unknown', 'That file is no longer there.', 'Begin again.');
  }
}

/** The run's own id, or with a random end where it is taken or can't be one. */
function freeId(home: string, wanted: string): string {
  const id = runIdPattern.test(wanted) ? wanted : 'run';
  if (!existsSync(runFolder(home, id))) return id;
  return freeId(home, `${id.slice(0, 59)}-${randomBytes(2).toString('hex')}`);
}
