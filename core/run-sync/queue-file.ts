import { readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { runId } from '../contract/contract.ts';
import { readJsonFile } from '../run-directory/parse-line.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

/** A queued run. */
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

  read(): readonly QueueEntry[] {
    const key = this.version();
    if (key !== this.cached.key) this.cached = { key, entries: this.parse() };
    return this.cached.entries;
  }

  /** Returns a run's position, from 1; null if it is not queued. */
  position(run: string): number | null {
    const index = this.read().findIndex((each) => each.run === run);
    return index < 0 ? null : index + 1;
  }

  /** Returns the positions of all queued runs, from 1. */
  positions(): Map<string, number> {
    return new Map(this.read().map(({ run }, index) => [run, index + 1]));
  }

  /** Applies `change` to a copy of the entries, saves it if it differs, and returns the result of `change`. */
  update<T>(change: (entries: QueueEntry[]) => T): T {
    const entries = structuredClone([...this.read()]);
    const before = JSON.stringify(entries);
    const result = change(entries);
    if (JSON.stringify(entries) !== before) this.write(entries);
    return result;
  }

  /** Differs after every change of the file. */
  private version(): string {
    const stat = statSync(this.path, { throwIfNoEntry: false });
    return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
  }

  /** Returns no entries if the file is invalid; the next write keeps a copy of that file. */
  private parse(): QueueEntry[] {
    return readJsonFile(content, this.path)?.runs ?? [];
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
