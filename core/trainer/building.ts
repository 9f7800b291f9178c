import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';

/** Written by the set-up (scripts/lib/trainer-build.mjs) while it builds the trainer, and left behind only by a build that failed. */
const report = z.object({
  pid: z.number().int().describe('of the set-up'),
  done: z.number().int().describe('files compiled so far'),
  total: z.number().int(),
  problem: z.object({ message: z.string(), hint: z.string() }).nullable(),
});

/** Build progress in files. */
export type TrainerBuilding = Pick<z.infer<typeof report>, 'done' | 'total'>;

const fileName = 'building.json';
/** Milliseconds without an update after which a report is stale. Setup updates it every 30 s. */
const silence = 300_000;

/** How far the set-up is with building this trainer; null where it isn't at it. Throws `trainer_missing` where it tried and failed. */
export function readBuilding(trainer: string): TrainerBuilding | null {
  const file = join(dirname(trainer), fileName);
  const said = readReport(file);
  if (!said) return null;
  if (!said.problem) {
    const isBuilt = isAlive(said.pid) && Date.now() - modified(file) <= silence;
    return isBuilt ? { done: said.done, total: said.total } : null;
  }
  // Built by hand since.
  if (modified(trainer) > modified(file)) return null;
  throw new Failure(
    'trainer_missing',
    `Building the trainer failed. ${said.problem.message}`,
    said.problem.hint,
  );
}

/** Throws `trainer_missing` while the trainer is being built, or where that failed: what an earlier build left is not what this app expects. */
export function refuseWhileBuilding(trainer: string): void {
  const building = readBuilding(trainer);
  if (!building) return;
  throw new Failure(
    'trainer_missing',
    `The trainer is being built: ${building.done} of ${building.total} files.`,
    'Wait until it finishes; the terminal and this page show progress.',
  );
}

function readReport(file: string): z.infer<typeof report> | null {
  try {
    return report.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
