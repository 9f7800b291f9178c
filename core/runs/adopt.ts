import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, lstat, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { asDiskFull, Failure } from '../contract/failure.ts';
import { runFiles, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';
import { processExists } from './liveness.ts';

/**
 * Copies a run directory from anywhere into a data folder, whole or not at all, and gives its id there: its own name where that can be one and is free.
 * For the person's own process alone: a path is nothing that core takes from a client. Throws `run_folder_invalid`, `run_copy_failed` or `disk_full`.
 */
export async function adoptRun(home: string, folder: string): Promise<string> {
  checkRunFolder(folder);
  const runId = freeId(home, basename(resolve(folder)));
  const partial = join(
    runsFolder(home),
    `.${runId}-adopting-${process.pid}-${randomBytes(4).toString('hex')}`,
  );
  try {
    await mkdir(runsFolder(home), { recursive: true });
    await cp(await realpath(folder), partial, {
      recursive: true,
      preserveTimestamps: true,
      filter: isWanted,
    });
    await rename(partial, runFolder(home, runId));
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw copyFailure(folder, error);
  }
  return runId;
}

/** How long (ms) a copy that nobody seems to make is left alone: its process may be one of another machine. */
const graceful = 600_000;

/** Deletes what processes that were killed in the middle of adopting have left. */
export async function removeHalfAdopted(home: string): Promise<void> {
  for (const name of await readdir(runsFolder(home)).catch(() => [])) {
    const pid = /^\.[a-z0-9-]+-adopting-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1];
    if (pid === undefined || processExists(Number(pid))) continue;
    const path = join(runsFolder(home), name);
    const changed = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - changed > graceful) await rm(path, { recursive: true, force: true });
  }
}

/** Throws `run_folder_invalid` for what is neither file nor folder: through a link, a run could write into files that aren't its own. */
async function isWanted(path: string): Promise<boolean> {
  // The lock of the trainer over there says nothing here.
  if (basename(path) === runFiles.lock) return false;
  const found = await lstat(path);
  if (found.isFile() || found.isDirectory()) return true;
  throw new Failure(
    'run_folder_invalid',
    `${path} is a link or another special file, which a run folder doesn't have.`,
    'Look at what it leads to. `cp -rL` makes a copy with files in place of links, which can be adopted.',
  );
}

function copyFailure(folder: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  return (
    asDiskFull(error) ??
    new Failure(
      'run_copy_failed',
      `${folder} can't be copied: ${error instanceof Error ? error.message : String(error)}`,
      'Check the permissions of both folders. Where the run is being trained, its files come and go: try again, or stop it first.',
    )
  );
}

function checkRunFolder(folder: string): void {
  const path = join(folder, runFiles.config);
  try {
    JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new Failure(
      'run_folder_invalid',
      `${folder} is no run folder: it has no readable ${runFiles.config}.`,
      'Name a folder that lies under runs/ of a data folder, or a copy of one.',
    );
  }
}

/** Names as file managers make them, such as `my-run (copy)`, become ids; one that is taken gets a random end. */
function freeId(home: string, name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 59);
  const wanted = runIdPattern.test(name) ? name : plain || 'run';
  if (!existsSync(runFolder(home, wanted))) return wanted;
  return freeId(home, `${wanted.slice(0, 59)}-${randomBytes(2).toString('hex')}`);
}
