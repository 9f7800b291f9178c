import { serveWorker } from '../base/worker-thread.ts';
import { type ImportOptions, type ImportProgress, importRun } from './import-run.ts';

/** The thread that creates a run from a table. */

interface ImportJob {
  home: string;
  path: string;
  options: ImportOptions;
}

const functions = {
  import: ({ home, path, options }: ImportJob, { progress }: { progress: ImportProgress }) =>
    importRun(home, path, options, progress),
};

export type ImportFunctions = typeof functions;

serveWorker(() => functions);
