import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Client } from '../../contract/client.ts';
import { Failure } from '../../contract/failure.ts';
import { print } from '../output.ts';
import { withExport } from '../with-export.ts';
import { writeReason } from '../write-reason.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Writes a diagnostics zip and prints its path. Throws `export_exists` or `export_unwritable`. */
export async function diagnostics({ home, out }: CommandOptions & { out: string }): Promise<void> {
  const path = resolve(out);
  const write = async (client: Client) => {
    const made = await client.call('machine.diagnostics', {});
    const source = join(made.folder, made.files[0]!.name);
    await withExport(client, made, () =>
      copyFile(source, path, constants.COPYFILE_EXCL).catch((error) => {
        throw new Failure(
          (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'export_exists' : 'export_unwritable',
          `${path} can't be written: ${writeReason(path, error)}.`,
          'Choose another file with --out.',
        );
      }),
    );
  };
  await withClient(home, write, { repeatable: true });
  print(path);
}
