import { serveWorker } from '../base/worker-thread.ts';
import { type ExportJob, type ExportProgress, writeExport } from './write-export.ts';

/** The thread that writes one export. */

const functions = {
  write: (job: ExportJob, { progress }: { progress: ExportProgress }) => writeExport(job, progress),
};

export type ExportFunctions = typeof functions;

serveWorker(() => functions);
