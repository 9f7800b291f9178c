import { readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { runId } from '../contract/contract.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

/** A run that waits. */
const entry = z.object({
  run: runId,
  added: z.number(),
});
export type QueueEntry = z.infer<typeof entry>;

const content = z.object({ version: z.literal(1), runs: z.array(entry) });

/**
 * queue.json of a data folder (docs/formats/queue.md): the only copy of the queue, so that the history can be rebuilt
 * without it. Only the host of the data folder changes it, each time by one rename.
 */
export class QueueFile {
  private readonly path: string;
  private cached: { key: string; entries: QueueEntry[] } = { key: '', entries: [] };

  constructor(home: string) {
    this.path = join(home, 'queue.json');
  }

  /** Changes whenever the file does. */
  version(): string {
    const stat = statSync(this.path, { throwIfNoEntry: false });
    return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
  }

  read(): readonly QueueEntry[] {
    const key = this.version();
    if (key !== this.cached.key) this.cached = { key, entries: this.parse() };
    return this.cached.entries;
  }

  /** 1 for the next; null where the run isn't queued. */
  position(run: string): number | null {
    const index = this.read().findIndex((each) => each.run === run);
    return index < 0 ? null : index + 1;
  }

  /** Of every run that is queued, 1 for the next. */
  positions(): Map<string, number> {
    return new Map(this.read().map(({ run }, index) => [run, index + 1]));
  }

  /** `change` gets a copy that it may alter; gives what it gives. */
  update<T>(change: (entries: QueueEntry[]) => T): T {
    const entries = structuredClone([...this.read()]);
    const before = JSON.stringify(entries);
    const result = change(entries);
    if (JSON.stringify(entries) !== before) this.write(entries);
    return result;
  }

  /** A file that can't be read is kept aside when the next one is written. */
  private parse(): QueueEntry[] {
    try {
      return content.parse(JSON.parse(readFileSync(this.path, 'utf8'))).runs;
    } catch {
      return [];
    }
  }

  private write(runs: QueueEntry[]): void {
    if (this.isDamaged()) renameSync(this.path, `${this.path}.damaged`);
    writeWhole(this.path, { version: 1, runs });
  }

  private isDamaged(): boolean {
    try {
      return !content.safeParse(JSON.parse(readFileSync(this.path, 'utf8'))).success;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ENOENT';
    }
  }
}
