import { parentPort, workerData } from 'node:worker_threads';
import { asFailure } from '../contract/failure.ts';
import { type Imported, type ImportOptions, importRun } from './import-run.ts';

/** The thread that makes a run of a table: whoever waits for it can give it up meanwhile. */

export interface ImportJob {
  home: string;
  path: string;
  options: ImportOptions;
}
export type ImportMessage =
  | { progress: [done: number, total: number] }
  | { value: Imported }
  | { error: { code: string; message: string; hint: string } };

const port = parentPort!;
const say = (message: ImportMessage) => port.postMessage(message);

function work({ home, path, options }: ImportJob): void {
  try {
    say({ value: importRun(home, path, options, (...told) => say({ progress: told })) });
  } catch (error) {
    say({ error: asFailure(error).toApiError() });
  }
}

work(workerData as ImportJob);
