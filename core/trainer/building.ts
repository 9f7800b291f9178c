import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { processExists } from '../base/process.ts';
import { Failure } from '../contract/failure.ts';
import { readJsonFile } from '../run-directory/parse-line.ts';

/** The report that setup (scripts/lib/trainer-build.mjs) writes while it builds the trainer. It remains only if the build fails. */
const report = z.object({
  pid: z.int().describe('process id of setup'),
  done: z.int().describe('files compiled so far'),
  total: z.int(),
  problem: z.object({ message: z.string(), hint: z.string() }).nullable(),
});

/** Build progress in files. */
export type TrainerBuilding = Pick<z.infer<typeof report>, 'done' | 'total'>;

const fileName = 'building.json';
/** Time in ms without an update after which a report is stale. Setup updates it every 30 s. */
const staleAfter = 300_000;

/** Returns the progress of building this trainer, or null if setup is not building it. Throws `trainer_missing` if the build failed. */
export function readBuilding(trainer: string): TrainerBuilding | null {
  const file = join(dirname(trainer), fileName);
  const found = readJsonFile(report, file);
  if (!found) return null;
  const { pid, done, total, problem } = found;
  if (!problem) {
    const isRunning = processExists(pid) && Date.now() - modified(file) <= staleAfter;
    return isRunning ? { done, total } : null;
  }
  // The trainer was built by hand after the failure.
  if (modified(trainer) > modified(file)) return null;
  throw new Failure('trainer_missing', `Building the trainer failed. ${problem.message}`, problem.hint);
}

/** Throws `trainer_missing` while the trainer is being built or if that failed: an earlier build might not match the app. */
export function refuseWhileBuilding(trainer: string): void {
  const building = readBuilding(trainer);
  if (!building) return;
  throw new Failure(
    'trainer_missing',
    building.total === 0
      ? 'The trainer is being built.'
      : `The trainer is being built: ${building.done} of ${building.total} files.`,
    'Wait until it finishes. The app and the terminal of `npm start` show progress.',
  );
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
