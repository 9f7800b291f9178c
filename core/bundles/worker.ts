import { parentPort, workerData } from 'node:worker_threads';
import { asFailure } from '../contract/failure.ts';
import { type PackJob, pack } from './pack.ts';
import { type UnpackJob, unpack } from './unpack.ts';

/** The thread that packs or unpacks one bundle: core goes on answering meanwhile. */

export type BundleJob = ({ kind: 'pack' } & PackJob) | ({ kind: 'unpack' } & UnpackJob);
export type BundleMessage =
  | { progress: [done: number, total: number] }
  | { value: unknown }
  | { error: { code: string; message: string; hint: string } };

const port = parentPort!;
const say = (message: BundleMessage) => port.postMessage(message);

/** Least time between two words of progress, in ms. */
const interval = 100;
let toldAt = 0;
function progress(done: number, total: number): void {
  if (Date.now() - toldAt < interval) return;
  toldAt = Date.now();
  say({ progress: [done, total] });
}

async function work(job: BundleJob): Promise<void> {
  try {
    say({ value: job.kind === 'pack' ? await pack(job, progress) : await unpack(job, progress) });
  } catch (error) {
    say({ error: asFailure(error).toApiError() });
  }
}

void work(workerData as BundleJob);
