import { execFile } from 'node:child_process';
import { Failure } from '../contract/failure.ts';
import { parseTrainerError } from './trainer-error.ts';

/** Timeout of queries such as `status` or `devices`, in ms. */
const limit = 15_000;

/**
 * Runs the trainer for a short question, with `input` on its standard input, and gives the JSON object that it prints. Throws the trainer's own error, `trainer_missing`,
 * or `trainer_unusable` where it didn't answer with JSON.
 */
export function askTrainer(executable: string, args: readonly string[], input = ''): Promise<unknown> {
  return new Promise((answer, refuse) => {
    const child = execFile(
      executable,
      args,
      { timeout: limit, maxBuffer: 16 << 20 },
      (error, output, errorOutput) => {
        if (error) return refuse(parseTrainerError(errorOutput) ?? unusable(executable, error.message));
        try {
          answer(JSON.parse(output));
        } catch {
          refuse(unusable(executable, `\`${args[0]}\` printed no JSON`));
        }
      },
    );
    // A trainer that exits early has reported the reason.
    child.stdin?.on('error', () => {}).end(input);
  });
}

function unusable(executable: string, reason: string): Failure {
  return new Failure(
    'trainer_unusable',
    `Cannot use the trainer ${executable}: ${reason.trim()}`,
    'Run `npm run setup` to build it again.',
  );
}
