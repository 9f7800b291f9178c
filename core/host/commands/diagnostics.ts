import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Client } from '../../contract/client.ts';
import { Failure, ignoring } from '../../contract/failure.ts';
import { print } from '../output.ts';
import { writeReason } from '../write-reason.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Writes a diagnostics zip and prints its path. Throws `export_exists` or `export_unwritable`. */
export async function diagnostics({ home, out }: CommandOptions & { out: string }): Promise<void> {
  const path = resolve(out);
  const write = async (client: Client) => {
    const { exportId, folder, files } = await client.call('machine.diagnostics', {});
    try {
      await copyFile(join(folder, files[0]!.name), path, constants.COPYFILE_EXCL);
    } catch (error) {
      throw new Failure(
        (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'export_exists' : 'export_unwritable',
        `${path} can't be written: ${writeReason(path, error)}.`,
        'Choose another file with --out.',
      );
    } finally {
      await client.call('exports.forget', { exportId }).catch(ignoring('connection_lost'));
    }
  };
  await withClient(home, write, { repeatable: true });
  print(path);
}
