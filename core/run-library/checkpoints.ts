import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Notices } from '../base/notices.ts';
import type { Checkpoint } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { successAt } from '../history/queries.ts';
import { checkpointsOf, hasOptimizer, isPinned, requireCheckpoint } from '../run-directory/checkpoints.ts';
import { folderBytes } from '../run-directory/measure.ts';
import { checkpointPath, pinFile } from '../run-directory/names.ts';
import type { Runs } from '../runs/runs.ts';

interface CheckpointsParts {
  database: HistoryDatabase;
  runs: Runs;
  notices: Notices;
}

/** Lists and pins the checkpoints of runs. */
export class Checkpoints {
  private readonly parts: CheckpointsParts;

  constructor(parts: CheckpointsParts) {
    this.parts = parts;
  }

  /** Returns a run's checkpoints, newest first. Throws `run_unknown`. */
  async list(runId: string): Promise<Checkpoint[]> {
    const { database, runs } = this.parts;
    runs.require(runId);
    const folder = runs.folder(runId);
    return Promise.all(
      checkpointsOf(folder)
        .toReversed()
        .map(async (iteration) => ({
          iteration,
          bytes: await folderBytes(join(folder, checkpointPath(iteration))),
          pinned: isPinned(folder, iteration),
          optimizer: hasOptimizer(folder, iteration),
          success: successAt(database, runId, iteration),
        })),
    );
  }

  /** Pins or unpins a checkpoint. A living trainer does it itself, because it also deletes optimizer state. Throws `run_unknown`, `checkpoint_missing` or `command_refused`. */
  async pin(runId: string, iteration: number, pinned: boolean): Promise<void> {
    const { runs, notices } = this.parts;
    const { status } = runs.get(runId);
    const folder = runs.folder(runId);
    requireCheckpoint(folder, iteration);
    if (isLive(status)) {
      const { accepted, message } = await runs.command(runId, pinned ? 'pin' : 'unpin', { iteration });
      if (!accepted)
        throw new Failure('command_refused', `The trainer rejected the command: ${message}.`, 'Try again.');
    } else {
      const file = join(folder, checkpointPath(iteration), pinFile);
      if (!pinned) rmSync(file, { force: true });
      else if (!existsSync(file)) writeFileSync(file, '', { flag: 'wx' });
    }
    notices.emit('checkpoints', { runId, written: null });
  }
}
