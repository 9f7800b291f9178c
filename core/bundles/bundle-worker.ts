import { doJob } from '../base/in-thread.ts';
import { type PackJob, pack } from './pack.ts';
import { type UnpackJob, unpack } from './unpack.ts';

/** The thread that packs or unpacks one bundle, so that core keeps responding. */

export type BundleJob = ({ kind: 'pack' } & PackJob) | ({ kind: 'unpack' } & UnpackJob);

/** Least time between two words of progress, in ms. */
const interval = 100;

void doJob<BundleJob>((job, progress) => {
  let toldAt = 0;
  const tell = (done: number, total: number) => {
    if (Date.now() - toldAt < interval) return;
    toldAt = Date.now();
    progress(done, total);
  };
  return job.kind === 'pack' ? pack(job, tell) : unpack(job, tell);
});
