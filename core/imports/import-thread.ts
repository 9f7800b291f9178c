import { rm } from 'node:fs/promises';
import type { TaskControl } from '../base/tasks.ts';
import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import { runFolder } from '../run-directory/names.ts';
import { partialFolder } from '../runs/partial-folders.ts';
import { type Imported, type ImportOptions, importedRunId } from './import-run.ts';
import type { ImportFunctions } from './import-worker.ts';

/** Runs {@link importRun} in a separate thread. Also throws the abort reason. Deletes partial files on failure. */
export async function importInThread(
  home: string,
  path: string,
  options: ImportOptions,
  control: TaskControl,
): Promise<Imported> {
  const runId = importedRunId(path, options.name);
  const partial = partialFolder(home, runId, 'importing');
  const thread = new WorkerThread<ImportFunctions>({
    script: workerScript(import.meta.filename, 'import-worker'),
    ...{ code: 'import_interrupted', purpose: 'imports a run' },
  });
  try {
    return await thread.callOnce('import', { home, path, options: { ...options, runId, partial } }, control);
  } catch (error) {
    for (const folder of [partial, runFolder(home, runId)]) await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
