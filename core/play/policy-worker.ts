import { workerData } from 'node:worker_threads';
import { serveWorker } from '../base/worker-thread.ts';
import { type GenerateRequest, generate } from './generate.ts';
import { Policy } from './policy.ts';

/** The thread that runs a policy. It performs one request at a time. */

export interface PolicyData {
  /** Model folder or checkpoint. */
  folder: string;
}

interface Control {
  signal: AbortSignal;
  progress: (ids: readonly number[]) => void;
}

async function load() {
  const policy = await Policy.load((workerData as PolicyData).folder);
  const closing = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  return {
    generate: (request: GenerateRequest, { signal, progress }: Control): Promise<number[]> => {
      const either = AbortSignal.any([signal, closing.signal]);
      const response = last.then(() => generate(policy, request, progress, either));
      last = response.catch(() => {});
      return response;
    },
    /** Waits for the current pass: exiting within ONNX Runtime aborts the process. */
    close: async (): Promise<void> => {
      closing.abort();
      await last;
      await policy.close();
    },
  };
}

export type PolicyFunctions = Awaited<ReturnType<typeof load>>;

serveWorker(load);
