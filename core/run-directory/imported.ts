import { Failure } from '../contract/failure.ts';

/** `task` of run.json: a run of which only the metrics are known. */
export const importedTask = 'imported';

/** Throws `run_imported` where only a run's metrics are known, so that nothing can be made of it. */
export function refuseImported(runId: string, task: unknown): void {
  if (task !== importedTask) return;
  throw new Failure(
    'run_imported',
    `The run ${runId} was made elsewhere: only its metrics are known.`,
    'Make a run from a preset.',
  );
}
