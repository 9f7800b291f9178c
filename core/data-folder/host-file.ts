import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { newToken } from './access.ts';

/** How the host of a data folder is reached; for the owner's eyes alone. */
const hostRecord = z.object({
  /** `http://127.0.0.1:7717` */
  address: z.string().regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/),
  token: z.string().regex(/^[0-9a-f]{64}$/),
  pid: z.number().int().positive(),
  /** The machine it runs on: a data folder may lie on a shared disk. */
  host: z.string(),
});
export type HostRecord = z.infer<typeof hostRecord>;

const hostFile = (home: string) => join(home, 'host.json');
const tokenFile = (home: string) => join(home, 'token');

/** The host that announced itself last, which may have died since; null where there is none, or no sense in what it wrote. */
export function readHost(home: string): HostRecord | null {
  try {
    return hostRecord.parse(JSON.parse(readFileSync(hostFile(home), 'utf8')));
  } catch {
    return null;
  }
}

/** For who holds the folder's lock alone: whatever the record says, that host is gone. */
export const forgetHost = (home: string) => rmSync(hostFile(home), { force: true, recursive: true });

/** Writes the record of the host that this process is. Throws `data_folder_unusable`. */
export function announceHost(home: string, record: HostRecord): void {
  writeSecret(home, hostFile(home), `${JSON.stringify(record)}\n`);
}

/**
 * The data folder's token, made at first use and then kept, so that a page that is open finds its core again after a restart. One that
 * others could read is replaced; deleting the file does the same. Throws `data_folder_unusable`.
 */
export function folderToken(home: string): string {
  const path = tokenFile(home);
  try {
    const token = readFileSync(path, 'utf8').trim();
    const isPrivate = process.platform === 'win32' || (statSync(path).mode & 0o077) === 0;
    if (isPrivate && hostRecord.shape.token.safeParse(token).success) return token;
  } catch {
    // There is none yet, or none that can be read: a new one says what is wrong, if anything is.
  }
  const token = newToken();
  writeSecret(home, path, `${token}\n`);
  return token;
}

/** A file for its owner alone, which appears whole. */
function writeSecret(home: string, path: string, text: string): void {
  const partial = `${path}.${process.pid}`;
  try {
    // One that a killed process of this number left would keep its own mode, and its readers.
    rmSync(partial, { force: true });
    writeFileSync(partial, text, { mode: 0o600, flag: 'wx' });
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new Failure(
      'data_folder_unusable',
      `${path} can't be written: ${error instanceof Error ? error.message : String(error)}`,
      `Check the permissions and the free space of ${home}, or choose another folder with --home or STARPO_HOME.`,
    );
  }
}
