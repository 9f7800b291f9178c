import { join } from 'node:path';
import type { Client } from '../contract/client.ts';
import { meaningOf } from '../run-directory/events.ts';
import { TensorBoardRun } from './tensorboard-run.ts';

interface FollowedRun {
  output: TensorBoardRun;
  /** Pending writes, one after another. */
  busy: Promise<void>;
}

/**
 * Writes metrics of runs as they arrive into `FOLDER/RUN/events.out.tfevents...`, for `tensorboard --logdir FOLDER`. A new client
 * continues where the last client stopped.
 */
export class TensorBoardLog {
  private readonly folder: string;
  private readonly onError: (error: unknown) => void;
  private readonly runs = new Map<string, FollowedRun>();

  constructor(folder: string, onError: (error: unknown) => void) {
    this.folder = folder;
    this.onError = onError;
  }

  /** Follows all runs that change from now on, or a single run from its start. */
  follow(client: Client, only?: string): void {
    client.on('run', ({ id }) => this.update(client, id), only);
    client.on('missed', () => {
      for (const id of this.runs.keys()) this.update(client, id);
    });
    for (const id of only === undefined ? this.runs.keys() : [only]) this.update(client, id);
  }

  /** Settles when all current events of a run are written. */
  async catchUp(client: Client, runId: string): Promise<void> {
    this.update(client, runId);
    await this.runs.get(runId)?.busy;
  }

  /** Closes the log after everything received is written. */
  async finish(): Promise<void> {
    await Promise.all([...this.runs.values()].map(({ busy }) => busy));
    this.close();
  }

  close(): void {
    for (const { output } of this.runs.values()) output.close();
    this.runs.clear();
  }

  private update(client: Client, runId: string): void {
    const run = this.runs.get(runId) ?? {
      output: new TensorBoardRun(join(this.folder, runId)),
      busy: Promise.resolve(),
    };
    this.runs.set(runId, run);
    run.busy = run.busy.then(() => this.writeNew(client, runId, run)).catch(this.onError);
  }

  private async writeNew(client: Client, runId: string, { output }: FollowedRun): Promise<void> {
    for (;;) {
      const events = await client.call('runs.events', { runId, after: output.seq });
      if (events.length === 0 || !this.runs.has(runId)) return;
      for (const event of events) output.write(event, meaningOf(event));
    }
  }
}
