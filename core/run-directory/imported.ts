import { Failure } from '../contract/failure.ts';

/** `task` in run.json of an imported run, which has only metrics. */
export const importedTask = 'imported';

/** Throws `run_imported` for imported runs. */
export function refuseImported(runId: string, task: unknown): void {
  if (task !== importedTask) return;
  throw new Failure(
    'run_imported',
    `Run ${runId} was imported and has only metrics.`,
    'Create a run from a preset instead.',
  );
}
