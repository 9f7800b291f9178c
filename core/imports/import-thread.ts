import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inThread } from '../base/in-thread.ts';
import type { TaskControl } from '../base/tasks.ts';
import { runFolder } from '../run-directory/names.ts';
import { halfMadeFolder } from '../runs/half-made.ts';
import { type Imported, type ImportOptions, importedRunId } from './import-run.ts';
import type { ImportJob } from './import-worker.ts';

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'import-worker.ts' : 'import-worker.cjs',
);

/** As {@link importRun}, in a thread of its own. Throws what the signal was aborted with, too; then nothing of it stays. */
export async function importInThread(
  home: string,
  path: string,
  options: ImportOptions,
  control: TaskControl,
): Promise<Imported> {
  const runId = importedRunId(path, options.name);
  const partial = halfMadeFolder(home, runId, 'importing');
  const job: ImportJob = { home, path, options: { ...options, runId, partial } };
  try {
    return (await inThread(script, job, control)) as Imported;
  } catch (error) {
    for (const folder of [partial, runFolder(home, runId)])
      await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
