import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { RunRow } from '../history/runs-table.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Trainer } from '../trainer/trainer.ts';

/** Whether a process of this machine exists and hasn't ended; one that belongs to somebody else counts. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !isZombie(pid);
}

/** A process that exited but was not waited for keeps its number. */
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

/** Processes that are asked at once. */
const atOnce = 2;

/** Checks whether runs have a living trainer, a few at a time, so that sixty interrupted runs do not start sixty processes. */
export class Liveness {
  private readonly trainer: Trainer;
  private readonly home: string;
  private readonly waiting: (() => void)[] = [];
  private asking = 0;

  constructor(trainer: Trainer, home: string) {
    this.trainer = trainer;
    this.home = home;
  }

  async isRunning(row: Pick<RunRow, 'id' | 'pid' | 'host'>): Promise<boolean> {
    const ownProcess = row.pid !== null && isLocal(row) && processExists(row.pid);
    // The lock of a process of this machine that is gone went with it.
    if (row.pid !== null && isLocal(row) && !ownProcess) return false;
    if (this.asking === atOnce) await new Promise<void>((free) => this.waiting.push(free));
    else this.asking += 1;
    try {
      return (await this.trainer.status(runFolder(this.home, row.id))).running;
    } catch {
      return ownProcess;
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.asking -= 1;
    }
  }
}
