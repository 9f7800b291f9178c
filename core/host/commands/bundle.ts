import { open, rm } from 'node:fs/promises';
import { type BundleChoice, pieceBytes } from '../../contract/contract.ts';
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
  try {
    await withClient(home, async (client) => {
      const runId = await resolveRun(client, named);
      const { file, bytes } = await client.call('bundles.export', { runId, checkpoints, episodes });
      for (let offset = 0; offset < bytes; ) {
        const { piece } = await client.call('bundles.read', { file, offset });
        const content = Buffer.from(piece, 'base64');
        await target.appendFile(content);
        offset += content.length;
      }
      await client.call('bundles.drop', { file });
    });
    await target.close();
  } catch (error) {
    await target.close();
    await rm(path, { force: true });
    throw asDiskFull(error) ?? error;
  }
  print(path);
}

/** Takes in the run of a bundle and prints its id here. */
export async function importBundle(path: string, { home }: { home?: string }): Promise<void> {
  const source = await open(path, 'r').catch((error) => {
    throw new Failure(
      'bundle_missing',
      `${path} can't be read: ${messageOf(error)}`,
      'Name a bundle’s file.',
    );
  });
  try {
    const { size } = await source.stat();
    if (size === 0) throw new Failure('bundle_invalid', `${path} is empty.`, 'Choose another file.');
    const runId = await withClient(home, async (client) => {
      const { file } = await client.call('bundles.begin', { bytes: size });
      const piece = Buffer.alloc(pieceBytes);
      for (let offset = 0; offset < size; ) {
        const { bytesRead } = await source.read(piece, 0, pieceBytes, offset);
        if (bytesRead === 0) break;
        await client.call('bundles.write', { file, piece: piece.toString('base64', 0, bytesRead) });
        offset += bytesRead;
      }
      return (await client.call('bundles.import', { file })).runId;
    });
    print(runId);
  } finally {
    await source.close();
  }
}

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
