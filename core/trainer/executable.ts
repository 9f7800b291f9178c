import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure } from '../contract/failure.ts';

const name = process.platform === 'win32' ? 'starpo-trainer.exe' : 'starpo-trainer';

/** Where the trainer may be, best first: STARPO_TRAINER, a checkout's build, the packaged app's resources. */
export function trainerCandidates(resources: string, environment: NodeJS.ProcessEnv = process.env): string[] {
  if (environment.STARPO_TRAINER) return [resolve(environment.STARPO_TRAINER)];
  return [resolve(resources, '../native/build', name), join(resources, 'bin', name)];
}

/** The first candidate that can be run; throws `trainer_missing`. */
export function findTrainer(candidates: readonly string[]): string {
  const found = candidates.find(isExecutable);
  if (found) return found;
  throw new Failure(
    'trainer_missing',
    `The trainer isn't at ${candidates.join(' or ')}.`,
    'Run `npm run setup` to build it, or name it with STARPO_TRAINER.',
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
