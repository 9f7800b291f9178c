import { readReactions } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { getRun } from '../history/runs-table.ts';

/** How many times policies have rolled back on the way to this run: along its parents, as far as they are still here. */
export function rollbacksBefore(database: HistoryDatabase, runId: string): number {
  let count = 0;
  const line = new Set<string>();
  for (let id = runId; !line.has(id); ) {
    line.add(id);
    const parent = JSON.parse(getRun(database, id)?.parent ?? 'null') as { run: string } | null;
    if (!parent) break;
    const made = readReactions(database, parent.run).some(
      ({ fork, by, action }) => fork === id && by === 'policy' && action === 'rollback',
    );
    if (made) count += 1;
    id = parent.run;
  }
  return count;
}
