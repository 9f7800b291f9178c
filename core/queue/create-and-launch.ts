import type { NewRun } from '../runs/create-run.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { Queue } from './queue.ts';

interface LaunchParts {
  runs: Runs;
  queue: Queue;
  trainer: Trainer;
}

/** Selects the next step for a new run. `queue` takes precedence. */
interface Launch {
  start?: boolean | undefined;
  queue?: boolean | undefined;
}

/** Creates a run, queues or starts it, and returns its id. Throws `trainer_missing` before creating a run that it could not start. */
export async function createAndLaunch(
  { runs, queue, trainer }: LaunchParts,
  newRun: NewRun,
  launch: Launch,
): Promise<string> {
  if (launch.start && !launch.queue) trainer.require();
  const runId = await runs.create(newRun, undefined, Boolean(launch.start || launch.queue));
  if (launch.queue) queue.add(runId);
  else if (launch.start) await queue.startNow(runId);
  return runId;
}
