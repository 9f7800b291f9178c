import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { asDiskFull, Failure } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';
import { newToken } from './access.ts';

/** Address and token of a data folder's host; readable only by the owner. */
const hostRecord = z.object({
  /** `http://127.0.0.1:7717` */
  address: z.string().regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/),
  token: z.string().regex(/^[0-9a-f]{64}$/),
  pid: z.int().positive(),
  /** Host name of the machine, since a data folder may be on a shared disk. */
  host: z.string(),
});
export type HostRecord = z.infer<typeof hostRecord>;

const hostFile = (home: string) => join(home, 'host.json');
const tokenFile = (home: string) => join(home, 'token');

/** Returns the last announced host, which may have ended since; null without a valid record. */
export function readHost(home: string): HostRecord | null {
  try {
    return hostRecord.parse(JSON.parse(readFileSync(hostFile(home), 'utf8')));
  } catch {
    return null;
  }
}

/** Removes the record. Call only with the folder's lock, when a recorded host must have ended. */
export const forgetHost = (home: string) => rmSync(hostFile(home), { force: true, recursive: true });

/** Records this process as the host. Throws `data_folder_unusable` or `disk_full`. */
export function announceHost(home: string, record: HostRecord): void {
  writeSecret(home, hostFile(home), `${JSON.stringify(record)}\n`);
}

/**
 * Returns the data folder's token, created on first use and kept, so that open pages reconnect after a restart. A token that
 * others could read is replaced. Throws `data_folder_unusable` or `disk_full`.
 */
export function folderToken(home: string): string {
  const path = tokenFile(home);
  const stored = storedToken(home);
  const isPrivate = () => process.platform === 'win32' || (statSync(path).mode & 0o077) === 0;
  if (stored !== null && isPrivate()) return stored;
  const token = newToken();
  writeSecret(home, path, `${token}\n`);
  return token;
}

/** Returns the data folder's token; null if it has none or this process can't read it. */
export function storedToken(home: string): string | null {
  try {
    return hostRecord.shape.token.safeParse(readFileSync(tokenFile(home), 'utf8').trim()).data ?? null;
  } catch {
    return null;
  }
}

/** Writes a file atomically, readable only by its owner. */
function writeSecret(home: string, path: string, text: string): void {
  const partial = `${path}.${process.pid}`;
  try {
    // A temporary file left by a killed process with our pid would keep its own mode.
    rmSync(partial, { force: true });
    writeFileSync(partial, text, { mode: 0o600, flag: 'wx' });
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw (
      asDiskFull(error) ??
      new Failure(
        'data_folder_unusable',
        `${path} can't be written: ${fileReason(error)}.`,
        `Check the permissions of ${home}, or choose another folder with --home or STARPO_HOME.`,
      )
    );
  }
}
