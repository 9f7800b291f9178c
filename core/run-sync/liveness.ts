import { hostname } from 'node:os';
import { processExists } from '../base/process.ts';
import type { RunRow } from '../history/runs-table.ts';
import { runFolder } from '../run-directory/names.ts';
import type { Trainer } from '../trainer/trainer.ts';

/** Returns whether a run's trainer runs on this machine, so that its pid is meaningful. */
export const isLocal = (row: Pick<RunRow, 'host'>) => row.host === hostname();

/** Maximum number of status processes at a time. */
const concurrentChecks = 2;

/** Checks whether runs have a running trainer, a few at a time, so that sixty interrupted runs do not start sixty processes. */
export class Liveness {
  private readonly trainer: Trainer;
  private readonly home: string;
  private readonly waiting: (() => void)[] = [];
  private checking = 0;

  constructor(trainer: Trainer, home: string) {
    this.trainer = trainer;
    this.home = home;
  }

  /** Returns null if the lock of a run whose process is not visible can't be checked. */
  async isRunning(row: Pick<RunRow, 'id' | 'pid' | 'host'>): Promise<boolean | null> {
    const hasProcess = row.pid !== null && isLocal(row) && processExists(row.pid);
    // The lock of a local process is released when it ends.
    if (row.pid !== null && isLocal(row) && !hasProcess) return false;
    if (this.checking === concurrentChecks) await new Promise<void>((free) => this.waiting.push(free));
    else this.checking += 1;
    try {
      return (await this.trainer.status(runFolder(this.home, row.id))).running;
    } catch {
      return hasProcess || null;
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.checking -= 1;
    }
  }
}
