import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { RunRow } from '../history/runs-table.ts';

/** Whether a process of this machine exists and hasn't ended; one that belongs to somebody else counts. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !isZombie(pid);
}

/** An ended process that nobody has waited for still has its number. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

/** Whether a run's trainer can be watched by its process number: it runs on this machine. */
export const isLocal = (row: Pick<RunRow, 'host'>) => row.host === hostname();
