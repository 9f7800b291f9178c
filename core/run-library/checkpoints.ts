import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Notices } from '../base/notices.ts';
import type { Checkpoint, Evaluation } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import type { Evaluations } from '../evaluations/evaluations.ts';
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
  evaluations: Evaluations;
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
    const requested = await this.parts.evaluations.comparable(runId);
    return Promise.all(
      checkpointsOf(folder)
        .toReversed()
        .map(async (iteration) => ({
          iteration,
          bytes: await folderBytes(join(folder, checkpointPath(iteration))),
          pinned: isPinned(folder, iteration),
          optimizer: hasOptimizer(folder, iteration),
          success: withRequested(successAt(database, runId, iteration), requested, iteration),
        })),
    );
  }

  /** Pins or unpins a checkpoint. A running trainer does this itself, because it also deletes optimizer state. Throws `run_unknown`, `checkpoint_missing` or `command_refused`. */
  async pin(runId: string, iteration: number, pinned: boolean): Promise<void> {
    const { runs, notices } = this.parts;
    const { status } = runs.get(runId);
    const folder = runs.folder(runId);
    requireCheckpoint(folder, iteration);
    if (isLive(status)) {
      const { accepted, message } = await runs.command(runId, pinned ? 'pin' : 'unpin', { iteration });
      if (!accepted)
        throw new Failure(
          'command_refused',
          `The command was rejected: ${message}.`,
          `See the checkpoints of the run with \`starpo show ${runId}\`.`,
        );
    } else {
      const file = join(folder, checkpointPath(iteration), pinFile);
      if (!pinned) rmSync(file, { force: true });
      else if (!existsSync(file)) writeFileSync(file, '', { flag: 'wx' });
    }
    notices.emit('checkpoints', { runId, written: null });
  }
}

/** Adds the success of requested evaluations on environments that were not evaluated in training at this iteration. */
function withRequested(
  inTraining: Checkpoint['success'],
  requested: readonly Evaluation[],
  iteration: number,
): Checkpoint['success'] {
  const rates = new Map(inTraining.map(({ label, rate }) => [label, rate]));
  for (const { checkpoint, label, metrics } of requested) {
    const rate = metrics?.success_rate;
    if (checkpoint === iteration && rate !== undefined && !rates.has(label)) rates.set(label, rate);
  }
  return [...rates].map(([label, rate]) => ({ label, rate })).sort((a, b) => (a.label < b.label ? -1 : 1));
}
