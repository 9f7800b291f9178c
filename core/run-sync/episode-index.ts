import { setTimeout as pause } from 'node:timers/promises';
import type { Input, Output } from '../contract/contract.ts';
import type { History } from '../history/history.ts';
import type { Supervisor } from './supervisor.ts';

/** Of the time that reading a file has taken, so much passes before the next: the machine is there for training. */
const rest = 3;
/** Files that come together are read together (ms). */
const gathering = 1000;

interface EpisodeIndexParts {
  history: History;
  supervisor: Supervisor;
  log: (message: string) => void;
}

/** The index for episode search. After `work` it indexes the rollout files of all runs slowly in the background. */
export class EpisodeIndex {
  private readonly parts: EpisodeIndexParts;
  private stopEvents = () => {};
  private timer: NodeJS.Timeout | null = null;
  private reading: Promise<void> | null = null;
  private again = false;
  private closed = false;

  constructor(parts: EpisodeIndexParts) {
    this.parts = parts;
  }

  work(): void {
    this.stopEvents = this.parts.supervisor.onEvents((_, events) => {
      if (events.some(({ type }) => type === 'rollout')) this.plan();
    });
    this.plan();
  }

  /** Reads all files that are there; gives when it is done. */
  async readAll(): Promise<void> {
    while (!this.closed && (await this.parts.history.indexEpisodes()));
  }

  async search(query: Input<'episodes.search'>): Promise<Output<'episodes.search'>> {
    return this.parts.history.reader.call('search', query);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.stopEvents();
    if (this.timer) clearTimeout(this.timer);
    await this.reading;
  }

  private plan(): void {
    if (this.closed) return;
    if (this.reading) {
      this.again = true;
      return;
    }
    this.again = false;
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.reading = this.readSlowly()
        .catch((error) =>
          this.parts.log(`Reading episodes: ${error instanceof Error ? error.message : error}`),
        )
        .finally(() => {
          this.reading = null;
          if (this.again) this.plan();
        });
    }, gathering);
    this.timer.unref();
  }

  private async readSlowly(): Promise<void> {
    for (let more = true; more && !this.closed; ) {
      const start = performance.now();
      more = await this.parts.history.indexEpisodes();
      // The pause does not keep an otherwise idle process alive.
      if (more) await pause(rest * (performance.now() - start), undefined, { ref: false });
    }
  }
}
