import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '../contract/failure.ts';
import { runFolder } from '../run-directory/names.ts';
import type { TaskControl } from '../tasks.ts';
import { type Imported, type ImportOptions, importedRunId, partialFolder } from './import-run.ts';
import type { ImportJob, ImportMessage } from './worker.ts';

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'worker.ts' : 'import-worker.cjs',
);

/** As {@link importRun}, in a thread of its own. Throws what the signal was aborted with, too; then nothing of it stays. */
export async function importInThread(
  home: string,
  path: string,
  options: ImportOptions,
  { signal, progress }: TaskControl,
): Promise<Imported> {
  signal.throwIfAborted();
  const runId = importedRunId(path, options.name);
  const workerData: ImportJob = { home, path, options: { ...options, runId } };
  const worker = new Worker(script, { workerData });
  const give = () => void worker.terminate();
  signal.addEventListener('abort', give);
  try {
    return await new Promise<Imported>((resolve, reject) => {
      worker.on('message', (message: ImportMessage) => {
        if ('progress' in message) progress(...message.progress);
        else if ('value' in message) resolve(message.value);
        else reject(new Failure(message.error.code, message.error.message, message.error.hint));
      });
      worker.on('error', reject);
      worker.on('exit', () => reject(signal.reason ?? new Error('the thread ended before its work')));
    });
  } catch (error) {
    await worker.terminate();
    for (const folder of [partialFolder(home, runId), runFolder(home, runId)])
      await rm(folder, { recursive: true, force: true });
    throw error;
  } finally {
    signal.removeEventListener('abort', give);
    await worker.terminate();
  }
}
