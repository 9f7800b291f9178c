import { existsSync, readFileSync } from 'node:fs';
import { lstat, readdir, realpath, rename, rm, utimes } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ensureFolder } from '../base/folders.ts';
import { asDiskFull, Failure, messageOf } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';
import { copyOneFile } from '../run-directory/copy-file.ts';
import { freeRunId, runFiles, runFolder, runsFolder } from '../run-directory/names.ts';
import { partialFolder } from './partial-folders.ts';

interface AdoptOptions {
  signal?: AbortSignal;
  /** Called with the number of bytes copied so far and the total. */
  progress?: (done: number, total: number) => void;
}

interface Entry {
  /** Relative to the run directory. */
  path: string;
  isFolder: boolean;
  bytes: number;
  accessed: Date;
  changed: Date;
}

/**
 * Copies a run directory into a data folder, completely or not at all. Returns the run's id: the folder's name if it is valid and unused, else a similar one.
 * Never call it for a path from a client. Throws `run_folder_invalid`, `run_copy_failed`, `disk_full` or the reason of the signal.
 */
export async function adoptRun(
  home: string,
  folder: string,
  { signal, progress = () => {} }: AdoptOptions = {},
): Promise<string> {
  checkRunFolder(folder);
  const runId = freeRunId(home, basename(resolve(folder)));
  const partial = partialFolder(home, runId, 'adopting');
  try {
    ensureFolder(runsFolder(home));
    const source = await realpath(folder);
    const entries: Entry[] = [];
    for await (const entry of entriesOf(source, signal)) entries.push(entry);
    const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    let done = 0;
    const onCopied = (bytes: number) => {
      done += bytes;
      progress(done, Math.max(done, total));
    };
    for (const { path, isFolder } of entries) {
      if (isFolder) ensureFolder(join(partial, path));
      else await copyOneFile(join(source, path), join(partial, path), { signal, onCopied });
    }
    // Folders last, because copying into a folder changes its time.
    for (const { path, accessed, changed } of entries.toReversed())
      await utimes(join(partial, path), accessed, changed);
    signal?.throwIfAborted();
    await rename(partial, runFolder(home, runId));
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw signal?.aborted ? signal.reason : copyFailure(folder, error);
  }
  return runId;
}

/** Yields all files and folders, a folder before its content. Throws `run_folder_invalid` for anything else: a link could make a run write to files outside its folder. */
async function* entriesOf(source: string, signal?: AbortSignal, path = '.'): AsyncGenerator<Entry> {
  signal?.throwIfAborted();
  const stats = await lstat(join(source, path));
  if (!stats.isFile() && !stats.isDirectory())
    throw new Failure(
      'run_folder_invalid',
      `${join(source, path)} is neither a regular file nor a folder. A run folder must not contain anything else.`,
      stats.isSymbolicLink()
        ? 'It is a link: check its target. To adopt the run, copy the folder with `cp -rL`, which replaces links with files.'
        : 'Copy the folder without it, and adopt the copy.',
    );
  const isFolder = stats.isDirectory();
  const bytes = isFolder ? 0 : stats.size;
  yield { path, isFolder, bytes, accessed: stats.atime, changed: stats.mtime };
  if (!isFolder) return;
  for (const name of await readdir(join(source, path))) {
    // The lock of the original run's trainer is meaningless in the copy.
    if (name !== runFiles.lock) yield* entriesOf(source, signal, join(path, name));
  }
}

function copyFailure(folder: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  return (
    asDiskFull(error) ??
    new Failure(
      'run_copy_failed',
      sentence(`${folder} can't be copied: ${messageOf(error)}`),
      'Check the permissions of both folders. If the run is training, stop it first, or try again.',
    )
  );
}

function checkRunFolder(folder: string): void {
  if (!existsSync(folder))
    throw new Failure('run_folder_invalid', `The folder ${folder} was not found.`, 'Check its path.');
  const path = join(folder, runFiles.config);
  try {
    JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new Failure(
      'run_folder_invalid',
      `${folder} is not a run folder: it has no readable ${runFiles.config}.`,
      'Choose a folder under runs/ in a data folder, or a copy of one.',
    );
  }
}
