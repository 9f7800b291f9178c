import { join } from 'node:path';
import { AskedThread } from '../base/asked-thread.ts';
import type { Input, IterationTimes, Output, RunLabel, Series } from '../contract/contract.ts';
import type { SeriesRange } from './series.ts';

export type HistoryQuestion =
  | { name: 'series'; runId: string; range: SeriesRange }
  | { name: 'times'; runId: string }
  | { name: 'label'; runId: string; groups: number; groupSize: number | undefined }
  | { name: 'search'; wanted: Input<'episodes.search'> };

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'reader-worker.ts' : 'reader-worker.cjs',
);

/** Reads what may take long of the history in a thread of its own, so that no run, however long, and no search keeps core from answering. */
export class HistoryReader {
  private readonly thread: AskedThread<HistoryQuestion>;

  constructor(home: string) {
    this.thread = new AskedThread(script, 'the history', { workerData: { home } });
  }

  /** See `readSeriesAt`. */
  series(runId: string, range: SeriesRange): Promise<Series[]> {
    return this.thread.ask({ name: 'series', runId, range }) as Promise<Series[]>;
  }

  /** See `readIterationTimes`. */
  times(runId: string): Promise<IterationTimes> {
    return this.thread.ask({ name: 'times', runId }) as Promise<IterationTimes>;
  }

  /** See `readRunLabel`. */
  label(runId: string, groups: number, groupSize?: number): Promise<RunLabel | null> {
    return this.thread.ask({ name: 'label', runId, groups, groupSize }) as Promise<RunLabel | null>;
  }

  /** See `searchEpisodes`. */
  search(wanted: Input<'episodes.search'>): Promise<Output<'episodes.search'>> {
    return this.thread.ask({ name: 'search', wanted }) as Promise<Output<'episodes.search'>>;
  }

  async close(): Promise<void> {
    await this.thread.close();
  }
}
