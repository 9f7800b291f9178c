import { serveWorker, throttled } from '../base/worker-thread.ts';
import type { ImportSource } from '../contract/imports.ts';
import { importRun } from './import-run.ts';
import type { Source } from './input-files.ts';
import { inspectFiles, readRun } from './inspect.ts';

/** The thread that reads files to import and creates a run from them. */

interface InspectJob {
  sources: Source[];
  from: ImportSource | undefined;
}

interface ImportJob extends InspectJob {
  home: string;
  key: string;
  name: string | undefined;
  runId: string;
  partial: string;
}

interface Control {
  progress(done: number, total: number): void;
}

const functions = {
  inspect: ({ sources, from }: InspectJob, _: Control) => inspectFiles(sources, from),
  import: async ({ home, sources, key, from, name, runId, partial }: ImportJob, { progress }: Control) => {
    const report = throttled(progress);
    report(0, 2);
    const run = await readRun(sources, key, from, (share) => report(share, 2));
    const { file } = run.found;
    importRun(home, run.metrics, { name: name ?? run.found.name, file, from: run.from, runId, partial }, (share) =>
      report(1 + share, 2),
    );
  },
};

export type ImportFunctions = typeof functions;

serveWorker(() => functions);
