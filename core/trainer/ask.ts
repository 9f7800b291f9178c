import { execFile } from 'node:child_process';
import type { Failure } from '../contract/failure.ts';
import { parseTrainerError, trainerUnusable, unstartable } from './trainer-error.ts';

/** Timeout in ms. */
const timeout = 15_000;

/**
 * Runs a short trainer command such as `status` or `devices`, with `input` on its standard input, and returns the JSON value that it prints.
 * Throws the trainer's own error, or `trainer_unusable` if it cannot run or does not print JSON.
 */
export function askTrainer(
  executable: string,
  args: readonly string[],
  input = '',
  env = process.env,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = execFile(executable, args, { timeout, maxBuffer: 16 << 20, env }, (error, output, errorOutput) => {
      if (error && 'syscall' in error) return reject(unstartable(executable, error));
      if (error) return reject(parseTrainerError(errorOutput) ?? unusable(executable, error.message));
      try {
        resolve(JSON.parse(output));
      } catch {
        reject(unusable(executable, `\`${args[0]}\` did not print JSON`));
      }
    });
    // A trainer that exits early has reported the reason.
    child.stdin?.on('error', () => {}).end(input);
  });
}

const unusable = (executable: string, reason: string): Failure =>
  trainerUnusable(`Can't use the trainer ${executable}: ${reason.trim()}`);
