import { readActions } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { getRun } from '../history/runs-table.ts';
import { readAnnotations } from '../run-directory/annotations.ts';

/**
 * Counts the automatic roll-backs that led to a run, along its parents up to one whose annotations have the count. A copy of settings has no parents.
 * Without a recorded count, roll-backs are counted as far as the parents still exist.
 */
export function rollbacksBefore(
  database: HistoryDatabase,
  runId: string,
  folderOf: (runId: string) => string,
): number {
  let count = 0;
  const line = new Set<string>();
  for (let id = runId; !line.has(id); ) {
    line.add(id);
    const carried = carriedRollbacks(folderOf(id));
    if (carried !== null) return count + carried;
    const parent = JSON.parse(getRun(database, id)?.parent ?? 'null') as {
      run: string;
      iteration: number | null;
    } | null;
    if (!parent || parent.iteration === null) break;
    const made = readActions(database, parent.run).some(
      ({ fork, by, kind }) => fork === id && by === 'monitor' && kind === 'rollback',
    );
    if (made) count += 1;
    id = parent.run;
  }
  return count;
}

/** What a run's own annotations say of how many led to it; null where they don't. */
export function carriedRollbacks(folder: string): number | null {
  const said = readAnnotations(folder).annotations.findLast(({ type }) => type === 'rollbacks');
  return said?.type === 'rollbacks' ? said.count : null;
}
