import { statfs } from 'node:fs/promises';
import type { DiskUse } from '../contract/contract.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { listRuns, type RunRow } from '../history/runs-table.ts';
import { measureRun } from '../run-directory/measure.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Trash } from './trash.ts';

/** Folders that are looked through at once. */
const atOnce = 4;
/** How long (ms) a measurement is valid if no change of the run is reported. */
const lasting = 300_000;

type Size = DiskUse['runs'][number];

interface SizesParts {
  database: HistoryDatabase;
  home: string;
  trash: Trash;
}

/** What every run takes on disk. A run whose journal and marks are as they were isn't looked through again for a while. */
export class Sizes {
  private readonly parts: SizesParts;
  private readonly known = new Map<string, { key: string; time: number; size: Size }>();

  constructor(parts: SizesParts) {
    this.parts = parts;
  }

  async all(): Promise<DiskUse> {
    const { database, home, trash } = this.parts;
    const rows = listRuns(database);
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id);
    const runs: Size[] = [];
    const left = rows.values();
    const measure = async () => {
      for (const row of left) runs.push(await this.of(row));
    };
    await Promise.all(Array.from({ length: atOnce }, measure));
    const [deleted, disk] = await Promise.all([trash.list(), statfs(home)]);
    return {
      runs,
      trash: deleted.reduce((sum, { bytes }) => sum + bytes, 0),
      free: disk.bavail * disk.bsize,
    };
  }

  /** What was found of a run holds no longer. */
  forget(runId: string): void {
    this.known.delete(runId);
  }

  private async of({ id, last_seq, annotations_bytes }: RunRow): Promise<Size> {
    const key = `${last_seq} ${annotations_bytes}`;
    const known = this.known.get(id);
    if (known?.key === key && Date.now() - known.time < lasting) return known.size;
    const { rollouts, checkpoints, total } = await measureRun(runFolder(this.parts.home, id));
    const size = { runId: id, rollouts, checkpoints, total };
    this.known.set(id, { key, time: Date.now(), size });
    return size;
  }
}
