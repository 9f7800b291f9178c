import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { processExists } from '../base/process.ts';
import { runsFolder } from '../run-directory/names.ts';

/** Returns a temporary folder for a run that this process creates. Its name is not a valid run id. */
export const partialFolder = (home: string, runId: string, doing: 'adopting' | 'importing') =>
  join(runsFolder(home), `.${runId}-${doing}-${process.pid}-${randomBytes(4).toString('hex')}`);

/** Minimum age (ms) of a partial folder before it is deleted, because another machine may still write to it. */
const minimumAge = 600_000;

/** Deletes folders left by processes that were killed while adopting or importing a run. */
export async function removePartialFolders(home: string): Promise<void> {
  for (const name of await readdir(runsFolder(home)).catch(() => [])) {
    const pid = /^\.[a-z0-9-]+-(?:adopting|importing)-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1];
    if (pid === undefined || processExists(Number(pid))) continue;
    const path = join(runsFolder(home), name);
    const changed = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - changed > minimumAge) await rm(path, { recursive: true, force: true });
  }
}
