import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { RunRow } from '../history/runs-table.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Trainer } from '../trainer/trainer.ts';

/** Returns whether a process of this machine is running, including processes of other users. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !isZombie(pid);
}

/** Returns whether a process has exited, but keeps its pid because its parent has not waited for it. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

/** Returns whether a run's trainer runs on this machine, so that its pid is meaningful. */
export const isLocal = (row: Pick<RunRow, 'host'>) => row.host === hostname();

/** Maximum number of status processes at a time. */
const concurrentChecks = 2;

/** Checks whether runs have a living trainer, a few at a time, so that sixty interrupted runs do not start sixty processes. */
export class Liveness {
  private readonly trainer: Trainer;
  private readonly home: string;
  private readonly waiting: (() => void)[] = [];
  private checking = 0;

  constructor(trainer: Trainer, home: string) {
    this.trainer = trainer;
    this.home = home;
  }

  async isRunning(row: Pick<RunRow, 'id' | 'pid' | 'host'>): Promise<boolean> {
    const hasProcess = row.pid !== null && isLocal(row) && processExists(row.pid);
    // The lock of a local process is released when it ends.
    if (row.pid !== null && isLocal(row) && !hasProcess) return false;
    if (this.checking === concurrentChecks) await new Promise<void>((free) => this.waiting.push(free));
    else this.checking += 1;
    try {
      return (await this.trainer.status(runFolder(this.home, row.id))).running;
    } catch {
      return hasProcess;
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.checking -= 1;
    }
  }
}
