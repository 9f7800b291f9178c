import { setTimeout as pause } from 'node:timers/promises';
import { Coalescer } from '../base/coalescer.ts';
import type { Notices } from '../base/notices.ts';
import { messageOf } from '../contract/failure.ts';
import type { History } from '../history/history.ts';
import type { Supervisor } from './supervisor.ts';

/** Pause after each batch, as a multiple of its duration, to leave the machine to training. */
const pauseFactor = 3;
/** Delay (ms) after a new rollout file, so that files written together are indexed together. */
const delay = 1000;

interface EpisodeIndexParts {
  history: History;
  supervisor: Supervisor;
  notices: Pick<Notices, 'emit'>;
  log: (message: string) => void;
}

/** The index for episode search. After `work` it indexes the rollout files of all runs slowly in the background. */
export class EpisodeIndex {
  private readonly parts: EpisodeIndexParts;
  private readonly indexing = new Coalescer(() => this.indexSlowly());
  private stopEvents = () => {};
  private timer: NodeJS.Timeout | null = null;
  private readonly closing = new AbortController();

  constructor(parts: EpisodeIndexParts) {
    this.parts = parts;
  }

  work(): void {
    this.stopEvents = this.parts.supervisor.events.on('journal', ({ events }) => {
      if (events.some(({ type }) => type === 'rollout')) this.plan();
    });
    this.plan();
  }

  /** Indexes all existing files. */
  async indexAll(): Promise<void> {
    while (!this.closing.signal.aborted && (await this.indexBatch()));
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.stopEvents();
    if (this.timer) clearTimeout(this.timer);
    await this.indexing.settled();
  }

  /** Indexes some files and returns whether more are left. */
  private async indexBatch(): Promise<boolean> {
    const more = await this.parts.history.indexEpisodes();
    this.parts.notices.emit('indexed', {});
    return more;
  }

  private plan(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.indexing.request();
    }, delay);
    this.timer.unref();
  }

  private async indexSlowly(): Promise<void> {
    const { signal } = this.closing;
    try {
      for (let more = true; more && !signal.aborted; ) {
        const start = performance.now();
        more = await this.indexBatch();
        // The pause does not keep an otherwise idle process alive.
        if (more) await pause(pauseFactor * (performance.now() - start), undefined, { ref: false, signal });
      }
    } catch (error) {
      if (!signal.aborted) this.parts.log(`Can't index the episodes: ${messageOf(error)}`);
    }
  }
}
