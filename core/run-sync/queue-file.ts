import { readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { apiError, runId } from '../contract/contract.ts';
import { readJsonFile } from '../run-directory/parse-line.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

const deviceIdentity = z.object({ id: z.string(), uuid: z.string().nullable() });

/** A queued run. */
const entry = z.object({
  run: runId,
  added: z.number(),
  /** The device on which it is being started. */
  device: deviceIdentity.optional(),
  /** Keys of the devices that failed while they trained it. */
  failedOn: z.array(z.string()).optional(),
});
export type QueueEntry = z.infer<typeof entry>;

const startedEntry = entry.extend({ device: deviceIdentity });

/** A device that failed, and the run that it trained. */
const asideDevice = deviceIdentity.extend({ name: z.string(), run: runId, time: z.number(), problem: apiError });
export type AsideDevice = z.infer<typeof asideDevice>;

const content = z.object({
  version: z.literal(1),
  /** Queued runs, next first. */
  runs: z.array(entry),
  /** Runs that the queue has started and that have not ended. */
  started: z.array(startedEntry).default([]),
  /** Devices on which no run is started. */
  aside: z.array(asideDevice).default([]),
  /** Whether runs may share a GPU if their memory fits. */
  share: z.boolean().default(false),
});
export type QueueContent = z.infer<typeof content>;

/**
 * queue.json of a data folder (docs/formats/queue.md): the only copy of the queue, so that the history can be rebuilt
 * without it. Only the host of the data folder changes it, each time by one rename.
 */
export class QueueFile {
  private readonly path: string;
  private cached: { key: string; content: QueueContent } = { key: '', content: empty() };

  constructor(home: string) {
    this.path = join(home, 'queue.json');
  }

  /** Returns the queued runs, next first. */
  read(): readonly QueueEntry[] {
    return this.content().runs;
  }

  content(): Readonly<QueueContent> {
    const key = this.version();
    if (key !== this.cached.key) this.cached = { key, content: this.parse() };
    return this.cached.content;
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

  /** Applies `change` to a copy of the content, saves it if it differs, and returns the result of `change`. */
  update<T>(change: (content: QueueContent) => T): T {
    const changed = structuredClone(this.content());
    const before = JSON.stringify(changed);
    const result = change(changed);
    if (JSON.stringify(changed) !== before) this.write(changed);
    return result;
  }

  /** Differs after every change of the file. */
  private version(): string {
    const stat = statSync(this.path, { throwIfNoEntry: false });
    return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
  }

  /** Returns no entries if the file is invalid; the next write keeps a copy of that file. */
  private parse(): QueueContent {
    return readJsonFile(content, this.path) ?? empty();
  }

  private write(changed: QueueContent): void {
    if (this.isDamaged()) renameSync(this.path, `${this.path}.damaged`);
    writeWhole(this.path, changed);
  }

  private isDamaged(): boolean {
    try {
      return !content.safeParse(JSON.parse(readFileSync(this.path, 'utf8'))).success;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ENOENT';
    }
  }
}

const empty = (): QueueContent => ({ version: 1, runs: [], started: [], aside: [], share: false });
