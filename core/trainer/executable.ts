import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure } from '../contract/failure.ts';
import { listWithOr } from '../contract/sentence.ts';

const name = process.platform === 'win32' ? 'starpo-trainer.exe' : 'starpo-trainer';

/** Returns the candidate paths of the trainer: STARPO_TRAINER alone if it is set, otherwise the checkout's build, then the app's resources. */
export function trainerCandidates(resources: string): string[] {
  if (process.env.STARPO_TRAINER) return [resolve(process.env.STARPO_TRAINER)];
  return [resolve(resources, '../native/build', name), join(resources, 'bin', name)];
}

/** Returns the first executable candidate. Throws `trainer_missing`. */
export function findTrainer(candidates: readonly string[]): string {
  const found = candidates.find(isExecutable);
  if (found) return found;
  throw new Failure(
    'trainer_missing',
    `The trainer was not found at ${listWithOr(candidates)}.`,
    'If STARPO_TRAINER is set, correct it. In a checkout, run `npm run setup` to build the trainer. Otherwise reinstall the app.',
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
