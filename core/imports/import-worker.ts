import { doJob } from '../base/in-thread.ts';
import { type ImportOptions, importRun } from './import-run.ts';

/** The thread that makes a run of a table: whoever waits for it can give it up meanwhile. */

export interface ImportJob {
  home: string;
  path: string;
  options: ImportOptions;
}

void doJob<ImportJob>(({ home, path, options }, progress) => importRun(home, path, options, progress));
