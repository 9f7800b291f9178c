import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { BundleFunctions } from './bundle-worker.ts';

/** Packs or unpacks one bundle in a separate thread. */
export class BundleThread extends WorkerThread<BundleFunctions> {
  constructor() {
    const script = workerScript(import.meta.filename, 'bundle-worker');
    super({ script, code: 'bundle_interrupted', purpose: 'packs or unpacks a bundle' });
  }
}
