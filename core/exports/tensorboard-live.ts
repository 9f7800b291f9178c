import { join } from 'node:path';
import type { Client } from '../contract/client.ts';
import { meaningOf } from '../run-directory/meaning.ts';
import { TensorBoardRun } from './tensorboard-run.ts';

/** What is kept of a run whose metrics are passed on. */
interface Followed {
  passed: TensorBoardRun;
  /** What is passed on now; one thing after the other. */
  busy: Promise<void>;
}

/**
 * Writes metrics of runs as they arrive into `FOLDER/RUN/events.out.tfevents...`, for `tensorboard --logdir FOLDER`. When the core changes, the next
 * client continues where the last one stopped.
 */
export class TensorBoardLog {
  private readonly folder: string;
  private readonly problem: (error: unknown) => void;
  private readonly runs = new Map<string, Followed>();

  constructor(folder: string, problem: (error: unknown) => void) {
    this.folder = folder;
    this.problem = problem;
  }

  /** Follows the runs that change from now on, or one alone, which is passed on from its beginning. */
  follow(client: Client, only?: string): void {
    client.on('run', ({ id }) => this.look(client, id), only);
    client.on('missed', () => {
      for (const id of this.runs.keys()) this.look(client, id);
    });
    for (const id of only === undefined ? this.runs.keys() : [only]) this.look(client, id);
  }

  /** Settles once everything that a run's journal has by now is written. */
  async catchUp(client: Client, runId: string): Promise<void> {
    this.look(client, runId);
    await this.runs.get(runId)?.busy;
  }

  /** Closes the log after everything received is written. */
  async finish(): Promise<void> {
    await Promise.all([...this.runs.values()].map(({ busy }) => busy));
    this.close();
  }

  close(): void {
    for (const { passed } of this.runs.values()) passed.close();
    this.runs.clear();
  }

  private look(client: Client, runId: string): void {
    const run = this.runs.get(runId) ?? {
      passed: new TensorBoardRun(join(this.folder, runId)),
      busy: Promise.resolve(),
    };
    this.runs.set(runId, run);
    run.busy = run.busy.then(() => this.takeNew(client, runId, run)).catch(this.problem);
  }

  private async takeNew(client: Client, runId: string, { passed }: Followed): Promise<void> {
    for (;;) {
      const events = await client.call('runs.events', { runId, after: passed.seq });
      if (events.length === 0 || !this.runs.has(runId)) return;
      for (const event of events) passed.pass(event, meaningOf(event));
    }
  }
}
