import { readActions } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { getRun } from '../history/runs-table.ts';
import { readAnnotations } from '../run-directory/annotations.ts';

/**
 * Counts the automatic roll-backs that led to a run: those of its ancestors, up to the nearest one with a recorded count. A copy of settings has no ancestors.
 * Without a recorded count, only existing ancestors count.
 */
export function rollbacksBefore(database: HistoryDatabase, runId: string, folderOf: (runId: string) => string): number {
  let count = 0;
  const visited = new Set<string>();
  for (let id = runId; !visited.has(id); ) {
    visited.add(id);
    const recorded = recordedRollbacks(folderOf(id));
    if (recorded !== null) return count + recorded;
    const parent = JSON.parse(getRun(database, id)?.parent ?? 'null') as {
      run: string;
      iteration: number | null;
    } | null;
    if (!parent || parent.iteration === null) break;
    const isRollback = readActions(database, parent.run).some(
      ({ fork, by, kind }) => fork === id && by === 'monitor' && kind === 'rollback',
    );
    if (isRollback) count += 1;
    id = parent.run;
  }
  return count;
}

/** Returns the number of earlier roll-backs in a run's own annotations; null if they have none. */
export function recordedRollbacks(folder: string): number | null {
  const last = readAnnotations(folder).annotations.findLast(({ type }) => type === 'rollbacks');
  return last?.type === 'rollbacks' ? last.count : null;
}
