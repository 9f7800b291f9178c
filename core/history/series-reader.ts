import { join } from 'node:path';
import { AskedThread } from '../asked-thread.ts';
import type { IterationTimes, Series } from '../contract/contract.ts';
import type { SeriesRange } from './series.ts';

export type SeriesQuestion =
  | { name: 'series'; runId: string; range: SeriesRange }
  | { name: 'times'; runId: string };

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'series-worker.ts' : 'series-worker.cjs',
);

/** Reads a run's series in a thread of its own, so that no run, however long, keeps core from answering. */
export class SeriesReader {
  private readonly thread: AskedThread<SeriesQuestion>;

  constructor(home: string) {
    this.thread = new AskedThread(script, 'series', { workerData: { home } });
  }

  /** See `readSeriesAt`. */
  series(runId: string, range: SeriesRange): Promise<Series[]> {
    return this.thread.ask({ name: 'series', runId, range }) as Promise<Series[]>;
  }

  /** See `readIterationTimes`. */
  times(runId: string): Promise<IterationTimes> {
    return this.thread.ask({ name: 'times', runId }) as Promise<IterationTimes>;
  }

  async close(): Promise<void> {
    await this.thread.close();
  }
}
