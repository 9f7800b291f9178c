import { join } from 'node:path';
import { inThread } from '../base/in-thread.ts';
import type { TaskControl } from '../base/tasks.ts';
import type { BundleJob } from './bundle-worker.ts';

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'bundle-worker.ts' : 'bundle-worker.cjs',
);

/** Packs or unpacks one in a thread of its own, as {@link inThread} does a job. */
export const inBundleThread = (job: BundleJob, control: TaskControl): Promise<unknown> =>
  inThread(script, job, control);
