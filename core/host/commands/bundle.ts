import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../contract/client.ts';
import type { BundleChoice } from '../../contract/contract.ts';
import { asDiskFull, Failure, fileReason } from '../../contract/failure.ts';
import { copyOneFile } from '../../run-directory/copy-file.ts';
import { asTask, whileWanted } from '../giving-up.ts';
import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { withClient } from './with-client.ts';

export type BundleFlags = BundleChoice & { home?: string };

/** Packs a run into a file that isn't there yet. The file is written by this process, so that core takes no path from a client. Ctrl-C gives it up, and leaves no file. */
export async function exportBundle(
  named: string,
  path: string,
  { home, checkpoints, episodes }: BundleFlags,
): Promise<void> {
  await whileWanted(`Packing ${named}`, async (wanted) => {
    const target = await open(path, 'wx').catch((error) => {
      throw unwritable(path, error);
    });
    await target.close();
    const pack = async (client: Client) => {
      const runId = await resolveRun(client, named);
      const made = await asTask(client, { kind: 'export_bundle', runId }, wanted, () =>
        client.call('bundles.export', { runId, checkpoints, episodes }),
      );
      try {
        await copyOneFile(join(made.folder, made.files[0]!.name), path, wanted);
      } finally {
        await client.call('exports.forget', { exportId: made.exportId });
      }
    };
    try {
      await withClient(home, pack, wanted);
    } catch (error) {
      await rm(path, { force: true });
      throw asDiskFull(error) ?? error;
    }
  });
  print(path);
}

/** Takes in the run of a bundle and prints its id here; Ctrl-C gives it up, and leaves no run. */
export async function importBundle(path: string, { home }: { home?: string }): Promise<void> {
  await stat(path).catch((error) => {
    throw unreadable(path, error);
  });
  const { runId } = await whileWanted(`Taking in ${path}`, (wanted) => {
    const { signal } = wanted;
    const bring = async (client: Client) => {
      const { file, path: at } = await client.call('bundles.begin', {});
      try {
        await copyOneFile(path, at, { signal }).catch((error) => {
          throw signal.aborted ? error : (asDiskFull(error) ?? unreadable(path, error));
        });
        return await asTask(client, { kind: 'import_bundle', runId: null }, wanted, () =>
          client.call('bundles.import', { file }),
        );
      } finally {
        await client.call('bundles.drop', { file });
      }
    };
    return withClient(home, bring, wanted);
  });
  print(runId);
}

const unreadable = (path: string, error: unknown) =>
  new Failure('bundle_missing', `${path} can't be read: ${fileReason(error)}.`, 'Name a bundle’s file.');

function unwritable(path: string, error: unknown): Failure {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST')
    return new Failure('bundle_exists', `${path} is there already.`, 'Choose another name, or delete it.');
  return new Failure(
    'bundle_unwritable',
    `${path} can't be written: ${fileReason(error)}.`,
    'Choose another place.',
  );
}
