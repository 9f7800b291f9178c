import { readReactions } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { getRun } from '../history/runs-table.ts';
import { readAnnotations } from '../run-directory/annotations.ts';

/**
 * How many times policies have rolled back on the way to this run: along the runs that it goes on from, up to one that says how many led to it. A copy goes on from none. Forks of versions that didn't say so, and
 * those that none led to, are counted as far as their parents are still here.
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
    const made = readReactions(database, parent.run).some(
      ({ fork, by, action }) => fork === id && by === 'policy' && action === 'rollback',
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
