import { execFile } from 'node:child_process';
import { Failure } from '../contract/failure.ts';
import { parseTrainerError } from './trainer-error.ts';

/** Longest that a question such as `status` or `devices` may take. */
const limit = 15_000;

/**
 * Runs the trainer for a short question and gives the JSON object that it prints. Throws the trainer's own error, `trainer_missing`,
 * or `trainer_unusable` where it didn't answer with JSON.
 */
export function askTrainer(executable: string, args: readonly string[]): Promise<unknown> {
  return new Promise((answer, refuse) => {
    execFile(executable, args, { timeout: limit, maxBuffer: 16 << 20 }, (error, output, errorOutput) => {
      if (error) return refuse(parseTrainerError(errorOutput) ?? unusable(executable, error.message));
      try {
        answer(JSON.parse(output));
      } catch {
        refuse(unusable(executable, `\`${args[0]}\` printed no JSON`));
      }
    });
  });
}

function unusable(executable: string, reason: string): Failure {
  return new Failure(
    'trainer_unusable',
    `The trainer ${executable} can't be used: ${reason.trim()}`,
    'Run `npm run setup` to build it again.',
  );
}
