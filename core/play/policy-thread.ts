import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { GenerateRequest } from './generate.ts';
import type { PolicyData, PolicyFunctions } from './policy-worker.ts';

interface GenerateControl {
  signal: AbortSignal;
  /** Receives the ids so far. */
  onIds: (ids: readonly number[]) => void;
}

/** A policy in its own thread, so that sampling does not block. Closing it aborts its work. */
export class PolicyThread {
  private readonly thread: WorkerThread<PolicyFunctions>;
  private readonly exit = Promise.withResolvers<void>();
  /** Resolves when the thread has exited after `close`. */
  readonly exited = this.exit.promise;

  private constructor(folder: string) {
    const script = workerScript(import.meta.filename, 'policy-worker');
    const data: PolicyData = { folder };
    this.thread = new WorkerThread({ script, code: 'policy_failed', purpose: 'runs the policy', data });
  }

  /** Loads the policy of a model folder or checkpoint. Throws as `Policy.load` does. */
  static async start(folder: string): Promise<PolicyThread> {
    const policy = new PolicyThread(folder);
    try {
      await policy.thread.start();
      return policy;
    } catch (error) {
      await policy.close();
      throw error;
    }
  }

  /** Samples a response and returns its ids; see {@link GenerateRequest}. Throws the signal's reason, or `policy_failed`. */
  generate(request: GenerateRequest, { signal, onIds }: GenerateControl): Promise<number[]> {
    return this.thread.call('generate', request, { signal, progress: onIds });
  }

  async close(): Promise<void> {
    await this.thread.close();
    this.exit.resolve();
  }
}
