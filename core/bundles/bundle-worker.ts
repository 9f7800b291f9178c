import { serveWorker, throttled } from '../base/worker-thread.ts';
import { type PackJob, pack } from './pack.ts';
import { type UnpackJob, unpack } from './unpack.ts';

/** The thread that packs or unpacks one bundle. */

interface Control {
  progress(done: number, total: number): void;
}

const functions = {
  pack: (job: PackJob, { progress }: Control) => pack(job, throttled(progress)),
  unpack: (job: UnpackJob, { progress }: Control) => unpack(job, throttled(progress)),
};

export type BundleFunctions = typeof functions;

serveWorker(() => functions);
