import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../contract/client.ts';
import type { BundleChoice } from '../../contract/contract.ts';
import { asDiskFull, Failure } from '../../contract/failure.ts';
import { copyOneFile } from '../../run-directory/copy-file.ts';
import { asTask, cancelable } from '../cancelable.ts';
import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { withExport } from '../with-export.ts';
import { writeReason } from '../write-reason.ts';
import { withClient } from './with-client.ts';

type BundleFlags = BundleChoice & { home?: string };

/** Packs a run into a new file. This process writes the file, so that the server accepts no paths from clients. */
export async function exportBundle(
  named: string,
  path: string,
  { home, checkpoints, episodes }: BundleFlags,
): Promise<void> {
  await cancelable(`Packing ${named}`, async (context) => {
    const target = await open(path, 'wx').catch((error) => {
      throw unwritable(path, error);
    });
    await target.close();
    const pack = async (client: Client) => {
      const runId = await resolveRun(client, named);
      const made = await asTask(client, context, (taskId) =>
        client.call('bundles.export', { runId, checkpoints, episodes }, taskId),
      );
      await withExport(client, made, () => copyOneFile(join(made.folder, made.files[0]!.name), path, context));
    };
    try {
      await withClient(home, pack, { ...context, repeatable: true });
    } catch (error) {
      await rm(path, { force: true });
      throw asDiskFull(error) ?? error;
    }
  });
  print(path);
}

function unwritable(path: string, error: unknown): Failure {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST')
    return new Failure('bundle_exists', `${path} already exists.`, 'Choose another name, or delete the file.');
  return new Failure(
    'bundle_unwritable',
    `${path} can't be written: ${writeReason(path, error)}.`,
    'Choose another path.',
  );
}
