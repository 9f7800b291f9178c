import { constants } from 'node:fs';
import { copyFile, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleChoice } from '../../contract/contract.ts';
import { asDiskFull, Failure } from '../../contract/failure.ts';
import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { withClient } from './with-client.ts';

export type BundleFlags = BundleChoice & { home?: string };

/** Packs a run into a file that isn't there yet. The file is written by this process, so that core takes no path from a client. */
export async function exportBundle(
  named: string,
  path: string,
  { home, checkpoints, episodes }: BundleFlags,
): Promise<void> {
  const target = await open(path, 'wx').catch((error) => {
    throw unwritable(path, error);
  });
  await target.close();
  try {
    await withClient(home, async (client) => {
      const runId = await resolveRun(client, named);
      const made = await client.call('bundles.export', { runId, checkpoints, episodes });
      try {
        await copyFile(join(made.folder, made.files[0]!.name), path, constants.COPYFILE_FICLONE);
      } finally {
        await client.call('exports.forget', { exportId: made.exportId });
      }
    });
  } catch (error) {
    await rm(path, { force: true });
    throw asDiskFull(error) ?? error;
  }
  print(path);
}

/** Takes in the run of a bundle and prints its id here. */
export async function importBundle(path: string, { home }: { home?: string }): Promise<void> {
  await stat(path).catch((error) => {
    throw unreadable(path, error);
  });
  const runId = await withClient(home, async (client) => {
    const { file, path: at } = await client.call('bundles.begin', {});
    try {
      await copyFile(path, at, constants.COPYFILE_FICLONE).catch((error) => {
        throw asDiskFull(error) ?? unreadable(path, error);
      });
      return (await client.call('bundles.import', { file })).runId;
    } finally {
      await client.call('bundles.drop', { file });
    }
  });
  print(runId);
}

const unreadable = (path: string, error: unknown) =>
  new Failure('bundle_missing', `${path} can't be read: ${messageOf(error)}`, 'Name a bundle’s file.');

function unwritable(path: string, error: unknown): Failure {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST')
    return new Failure('bundle_exists', `${path} is there already.`, 'Choose another name, or delete it.');
  return new Failure(
    'bundle_unwritable',
    `${path} can't be written: ${messageOf(error)}`,
    'Choose another place.',
  );
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
