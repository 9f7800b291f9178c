import type { DiskUse } from '../contract/contract.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { listRuns, type RunRow } from '../history/runs-table.ts';
import { folderBytes, freeBytes } from '../run-directory/measure.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Trash } from './trash.ts';

/** Maximum number of folders measured at a time. */
const concurrentFolders = 4;
/** Time (ms) that a measurement is valid if the run's journal and annotations don't change. */
const validity = 300_000;

type Size = DiskUse['runs'][number];

interface SizesParts {
  database: HistoryDatabase;
  home: string;
  trash: Trash;
}

/** Disk use of all runs. Measurements of unchanged runs are cached. */
export class Sizes {
  private readonly parts: SizesParts;
  private readonly cache = new Map<string, { key: string; time: number; size: Size }>();

  constructor(parts: SizesParts) {
    this.parts = parts;
  }

  async all(): Promise<DiskUse> {
    const { database, home, trash } = this.parts;
    const rows = listRuns(database);
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of this.cache.keys()) if (!ids.has(id)) this.cache.delete(id);
    const runs: Size[] = [];
    const remaining = rows.values();
    const measure = async () => {
      for (const row of remaining) runs.push(await this.of(row));
    };
    await Promise.all(Array.from({ length: concurrentFolders }, measure));
    const [deleted, free] = await Promise.all([trash.list(), freeBytes(home)]);
    return { runs, trash: deleted.reduce((sum, { bytes }) => sum + bytes, 0), free };
  }

  /** Discards the measurement of a run. */
  forget(runId: string): void {
    this.cache.delete(runId);
  }

  private async of({ id, last_seq, annotations_bytes }: RunRow): Promise<Size> {
    const key = `${last_seq} ${annotations_bytes}`;
    const cached = this.cache.get(id);
    if (cached?.key === key && Date.now() - cached.time < validity) return cached.size;
    const size = { runId: id, total: await folderBytes(runFolder(this.parts.home, id)) };
    this.cache.set(id, { key, time: Date.now(), size });
    return size;
  }
}
