import { parentPort, workerData } from 'node:worker_threads';
import type { ApiError } from '../contract/contract.ts';
import { asFailure } from '../contract/failure.ts';
import { type ExportJob, writeExport } from './write-export.ts';

/** The thread that makes one export and reports progress. */
export type ExportAnswer = { done: number; total: number } | { files: string[] } | { error: ApiError };

const port = parentPort!;
const say = (answer: ExportAnswer) => port.postMessage(answer);

writeExport(workerData as ExportJob, (done, total) => say({ done, total })).then(
  (files) => say({ files }),
  (error) => say({ error: asFailure(error).toApiError() }),
);
