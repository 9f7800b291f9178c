import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Failure } from '../api/failure.ts';
import { runFiles, runFolder, runIdPattern, runsFolder } from '../run-directory/names.ts';

/**
 * Copies a run directory from anywhere into a data folder, whole or not at all, and gives its id there: its own name where that can be one and is free.
 * Throws `run_folder_invalid`.
 */
export async function adoptRun(home: string, folder: string): Promise<string> {
  checkRunFolder(folder);
  const runId = freeId(home, basename(resolve(folder)));
  const partial = join(runsFolder(home), `.${runId}-${randomBytes(4).toString('hex')}`);
  await mkdir(runsFolder(home), { recursive: true });
  try {
    // The lock of the trainer over there says nothing here.
    const wanted = (source: string) => basename(source) !== runFiles.lock;
    await cp(folder, partial, { recursive: true, preserveTimestamps: true, filter: wanted });
    await rename(partial, runFolder(home, runId));
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
  return runId;
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
