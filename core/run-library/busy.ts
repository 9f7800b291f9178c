import type { ApiError, Refusal } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import type { Evaluations } from '../evaluations/evaluations.ts';
import type { Queue } from '../queue/queue.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';

export interface BusyParts {
  runs: Runs;
  queue: Queue;
  evaluations: Evaluations;
  trainer: Pick<Trainer, 'status'>;
}

/**
 * Makes sure that no process uses a run's folder before files are deleted, and removes the run from the queue. `refuse` throws any other
 * objection before that. Throws `run_unknown`, `run_active` or `evaluation_active`.
 */
export async function makeIdle(
  parts: BusyParts,
  runId: string,
  refuse: () => Promise<void> = async () => {},
): Promise<void> {
  const { runs, queue } = parts;
  await queue.settled();
  await refuseBusy(parts, runId);
  await refuse();
  if (runs.get(runId).queuePosition === null) return;
  queue.remove(runId);
  // The queue may have started the run before it was removed.
  await queue.settled();
  await refuseBusy(parts, runId);
}

async function refuseBusy({ runs, evaluations, trainer }: BusyParts, runId: string): Promise<void> {
  const { name, status } = runs.get(runId);
  // A trainer that has just started might not have written an event yet, but holds its lock.
  const locked = await trainer.status(runs.folder(runId)).then(
    ({ running }) => running,
    () => false,
  );
  if (locked || isLive(status) || runs.isLoading(runId))
    throw new Failure('run_active', `${name} is running or paused.`, 'Stop it first.');
  await runs.refuseSent(runId);
  if ((await evaluations.list(runId)).some(({ state }) => state === 'running'))
    throw new Failure(
      'evaluation_active',
      `${name} is being evaluated.`,
      'Wait until the evaluation ends, or cancel it.',
    );
}

/** Applies an operation to each run separately: a failure for one run does not affect the others. */
export async function eachRun(runIds: readonly string[], work: (runId: string) => Promise<void>): Promise<Refusal[]> {
  const refused: Refusal[] = [];
  for (const runId of new Set(runIds)) {
    try {
      await work(runId);
    } catch (error) {
      refused.push({ runId, error: refusalOf(error) });
    }
  }
  return refused;
}

/** Returns the error of a rejected run. Throws an internal error, which must not be reported as a rejection. */
function refusalOf(error: unknown): ApiError {
  const failure = asFailure(error);
  if (failure.code === 'internal' && !(error as NodeJS.ErrnoException).syscall) throw error;
  return failure.toApiError();
}
