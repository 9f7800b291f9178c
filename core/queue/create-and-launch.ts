import type { NewRun } from '../runs/create-run.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { Queue } from './queue.ts';

interface LaunchParts {
  runs: Runs;
  queue: Queue;
  trainer: Trainer;
}

/** Selects the next step for a new run, as in `runs.create` of the API. `queue` takes precedence. */
interface Launch {
  start?: boolean | undefined;
  queue?: boolean | undefined;
  startable?: boolean | undefined;
}

/**
 * Creates a run, queues or starts it, and returns its id. Throws `trainer_missing` or `command_not_confirmed`, without creating the run, if it could
 * not be started.
 */
export async function createAndLaunch(
  { runs, queue, trainer }: LaunchParts,
  { id, ...newRun }: NewRun & { id?: string | undefined },
  launch: Launch,
): Promise<string> {
  const starts = Boolean(launch.start || launch.startable);
  if (starts && !launch.queue) trainer.require();
  const runId = await runs.create(newRun, id, starts || Boolean(launch.queue));
  if (launch.queue) queue.add(runId);
  else if (launch.start) await queue.startNow(runId);
  return runId;
}
