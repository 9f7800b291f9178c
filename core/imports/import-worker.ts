import { doJob } from '../base/in-thread.ts';
import { type ImportOptions, importRun } from './import-run.ts';

/** The thread that creates a run from a table; the caller can cancel it. */

export interface ImportJob {
  home: string;
  path: string;
  options: ImportOptions;
}

void doJob<ImportJob>(({ home, path, options }, progress) => importRun(home, path, options, progress));
